/** Durations and instants in words, as the sentences of the page say them. */
const trimmed = (value, digits) => Number(value.toFixed(digits)).toString();

const duration = (us) => {
  if (us < 0) return `-${duration(-us)}`;
  if (us > 0 && us < 1e3) return `${us} µs`;
  if (us > 0 && us < 1e6) return `${trimmed(us / 1e3, 3)} ms`;
  if (us < 60e6) return `${trimmed(us / 1e6, 3)} s`;
  const whole = Math.round(us / 1e5) * 1e5;
  const units = [[86400e6, "d", 3600e6, "h"], [3600e6, "h", 60e6, "min"], [60e6, "min", 1e6, "s"]];
  const [size, name, smaller, smallerName] = units.find(([unit]) => whole >= unit);
  const rest = (whole % size) / smaller;
  const told = name === "min" ? trimmed(rest, 1) : Math.floor(rest).toString();
  const count = Math.floor(whole / size);
  return told === "0" ? `${count} ${name}` : `${count} ${name} ${told} ${smallerName}`;
};

const textOf = (text) => (typeof text === "number" ? `${text.toLocaleString("en")} characters` : text);

/** A text in which nothing turns round what stands behind it: overrides of its direction are shown as what they are. */
const visible = (text) => String(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);

const element = (name, content = "", className = "") => {
  const made = document.createElement(name);
  made.textContent = visible(content);
  if (className) made.className = className;
  return made;
};

const byId = (id) => document.getElementById(id);
