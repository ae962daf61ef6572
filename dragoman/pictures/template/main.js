/** Brings the parts together: one choice of an event, shown everywhere; the tools; keys and pointers. */
const read = (id) => JSON.parse(byId(id).textContent);
const head = read("head");
const drawing = new Drawing(byId("canvas"), byId("scroller"), byId("spacer"));
const hiddenKinds = new Set();
let words = [];
let picture = null;
let selected = null;

const shown = (event) => {
  if (hiddenKinds.has(event.mark.group)) return false;
  if (!words.length) return true;
  const lane = event.lane === null ? "" : picture.lanes[event.lane].id;
  const told = `${event.says} ${event.word} ${event.kind} ${lane}`.toLowerCase();
  return words.every((word) => told.includes(word));
};

const select = (index, toPicture) => {
  selected = index;
  drawing.selected = index;
  const event = index === null ? null : picture.events[index];
  const cursor = byId("cursor");
  cursor.value = index === null ? cursor.max : index + 1;
  const when = event ? duration(event.at - picture.begin) : "the end";
  byId("cursor-time").textContent = event ? `${when} · event ${index + 1} of ${picture.events.length}` : "the end";
  cursor.setAttribute("aria-valuetext", event ? `${when}: ${event.says}` : "the end");
  showDetail(picture, event);
  showHistory(picture, index);
  list.choose(index);
  if (index !== null) drawing.reveal(index);
  drawing.draw();
  if (toPicture) {
    byId("frame").scrollIntoView({ block: "center" });
    byId("canvas").focus({ preventScroll: true });
  }
};

const list = new EventList(byId("events"), byId("events-rows"), byId("events-note"), select);

const show = (place) => {
  picture = decode(read(`picture-${place}`));
  showHead(picture);
  showFailures(picture, select);
  showAnswers(picture, head.topics, select);
  byId("cursor").max = picture.events.length;
  for (const radio of document.getElementsByName("scale")) radio.checked = radio.value === "even";
  drawing.show(picture, shown);
  list.show(picture, shown);
  refold();
  const failed = picture.failures.find((one) => one.event !== null);
  select(failed ? failed.event : null, false);
};

const refold = () => byId("unfold").setAttribute("aria-pressed", String(drawing.rows.unfolded.size > 0));

const refilter = () => {
  list.show(picture, shown);
  list.choose(selected);
  drawing.draw();
};

const fillChooser = () => {
  const { index, leftOut } = head;
  byId("choice").hidden = index.length + leftOut < 2;
  byId("chooser").replaceChildren(...index.map(({ title, passed }, place) => {
    const option = element("option", `${passed === null ? "" : passed ? "✓ " : "✗ "}${title}`);
    option.value = place;
    return option;
  }));
  const failed = index.filter(({ passed }) => passed === false).length;
  byId("choice-note").textContent = `${index.length} runs, ${failed} failed${failed ? " (first)" : ""}.${
    leftOut ? ` ${leftOut} more did not find room in this page.` : ""}`;
  byId("chooser").addEventListener("change", (change) => show(Number(change.target.value)));
};

const fillKinds = () => {
  byId("kinds").append(...Object.entries(KINDS).map(([group, name]) => {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) hiddenKinds.delete(group);
      else hiddenKinds.add(group);
      refilter();
    });
    label.append(box, name);
    return label;
  }));
};

/** The next event that is shown, from the chosen one on. */
const step = (by) => {
  const { events } = picture;
  let at = selected === null ? (by > 0 ? -1 : events.length) : selected;
  do at += by; while (at >= 0 && at < events.length && !shown(events[at]));
  if (at >= 0 && at < events.length) select(at, false);
};

/** The event of the next row that is nearest in time. */
const stepRow = (by) => {
  const rows = drawing.rows.all;
  const now = selected === null ? null : drawing.rows.of(picture.events[selected]);
  const from = selected === null ? 0 : selected;
  for (let place = (now ? now.place : by > 0 ? -1 : rows.length) + by; place >= 0 && place < rows.length; place += by) {
    const events = drawing.eventsOf(rows[place]).filter(shown);
    if (!events.length) continue;
    const nearest = events.reduce((best, event) => (Math.abs(event.index - from) < Math.abs(best.index - from) ? event : best));
    select(nearest.index, false);
    return;
  }
};

const fold = (lane) => {
  drawing.rows.toggle(lane);
  drawing.layout();
  refold();
};

const KEYS = {
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ArrowDown: () => stepRow(1),
  ArrowUp: () => stepRow(-1),
  Home: () => picture.events.length && select(0, false),
  End: () => picture.events.length && select(picture.events.length - 1, false),
  "+": () => drawing.zoom(1.5, selected === null ? undefined : drawing.xOf(selected)),
  "=": () => KEYS["+"](),
  "-": () => drawing.zoom(1 / 1.5, selected === null ? undefined : drawing.xOf(selected)),
  0: () => drawing.fit(),
  Enter: () => selected !== null && picture.events[selected].lane !== null && fold(picture.events[selected].lane),
  Escape: () => select(null, false),
};

const listen = () => {
  const canvas = byId("canvas");
  canvas.addEventListener("keydown", (press) => {
    if (press.ctrlKey || press.altKey || press.metaKey || !KEYS[press.key]) return;
    press.preventDefault();
    KEYS[press.key]();
  });
  byId("cursor").addEventListener("input", (change) => {
    const value = Number(change.target.value);
    select(value ? value - 1 : picture.events.length ? 0 : null, false);
  });
  byId("zoom-in").addEventListener("click", () => KEYS["+"]());
  byId("zoom-out").addEventListener("click", () => KEYS["-"]());
  byId("fit").addEventListener("click", () => drawing.fit());
  byId("unfold").addEventListener("click", () => {
    const { rows } = drawing;
    if (rows.unfolded.size) rows.unfolded.clear();
    else for (const lane of picture.lanes) rows.unfolded.add(lane.index);
    rows.lay();
    drawing.layout();
    refold();
  });
  byId("filter").addEventListener("input", (change) => {
    words = change.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    refilter();
  });
  for (const radio of document.getElementsByName("scale")) {
    radio.addEventListener("change", () => {
      drawing.rescale(radio.value);
      if (selected !== null) drawing.reveal(selected);
    });
  }
  canvas.addEventListener("wheel", (turn) => {
    if (turn.ctrlKey) drawing.zoom(Math.exp(-turn.deltaY / 300), turn.offsetX);
    else if (turn.shiftKey || Math.abs(turn.deltaX) > Math.abs(turn.deltaY)) {
      drawing.move(drawing.from + (turn.deltaX || turn.deltaY) / drawing.unit);
    } else return;
    turn.preventDefault();
  }, { passive: false });
  listenToPointers(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showLegend(drawing.colours));
};

const listenToPointers = (canvas) => {
  const down = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (press) => {
    canvas.setPointerCapture(press.pointerId);
    down.set(press.pointerId, press);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (move) => {
    const before = down.get(move.pointerId);
    if (!before) {
      hover(move);
      return;
    }
    moved += Math.abs(move.clientX - before.clientX);
    if (down.size === 1) drawing.move(drawing.from - (move.clientX - before.clientX) / drawing.unit);
    else {
      const other = [...down.values()].find((one) => one.pointerId !== move.pointerId);
      const was = Math.max(8, Math.abs(before.clientX - other.clientX));
      drawing.zoom(Math.max(8, Math.abs(move.clientX - other.clientX)) / was, move.offsetX);
    }
    down.set(move.pointerId, move);
    canvas.classList.toggle("dragged", moved > 4);
  });
  const up = (release) => {
    down.delete(release.pointerId);
    canvas.classList.remove("dragged");
  };
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerup", (release) => {
    up(release);
    if (moved > 4) return;
    const event = drawing.hit(release.offsetX, release.offsetY);
    const row = drawing.rows.at(release.offsetY + drawing.scroller.scrollTop);
    const onName = row && release.offsetX < Math.max(drawing.left, drawing.rows.named ? 34 : 0);
    if (row && row.kind === "lane" && onName && release.offsetY > ROW.axis) fold(row.lane.index);
    else if (event) select(event.index, false);
  });
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
};

const hover = (move) => {
  const tip = byId("tip");
  const event = drawing.hit(move.offsetX, move.offsetY);
  const span = event ? null : drawing.spanAt(move.offsetX, move.offsetY);
  tip.hidden = !event && !span;
  drawing.canvas.style.cursor = event ? "pointer" : "";
  if (tip.hidden) return;
  const lines = [element("p", (event || span).says)];
  if (event) {
    lines.push(element("p", duration(event.at - picture.begin)));
    const parent = event.lane !== null && event.parent !== null ? picture.lanes[event.lane].parents[event.parent] : null;
    if (parent && typeof parent.source === "string") lines.push(element("p", parent.source));
  } else if (span.end !== null) {
    const [from, to] = [picture.events[span.begin].at, picture.events[span.end].at];
    lines.push(element("p", `${duration(to - from)}${span.word ? `, until ${span.word}` : ""}`));
  }
  tip.replaceChildren(...lines);
  const frame = byId("frame").clientWidth;
  tip.style.left = `${Math.max(4, Math.min(move.offsetX + 14, frame - tip.offsetWidth - 4))}px`;
  tip.style.top = `${move.offsetY + 18}px`;
};

fillChooser();
fillKinds();
listen();
show(0);
showLegend(drawing.colours);

/** For bookmarklets and for the tests of this page. */
window.dragoman = {
  get picture() { return picture; },
  get selected() { return selected; },
  get drawing() { return drawing; },
  select,
  show,
};
