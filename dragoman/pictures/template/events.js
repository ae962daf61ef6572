/** The list of events: only the rows in view exist; arrow keys move the choice. */
class EventList {
  constructor(box, rows, note, select) {
    Object.assign(this, { box, rows, note, select, selected: null, shown: [] });
    box.addEventListener("scroll", () => this.fill());
    box.addEventListener("keydown", (press) => this.pressed(press));
    rows.addEventListener("click", (click) => {
      const row = click.target.closest("[data-event]");
      if (row) select(Number(row.dataset.event), false);
    });
    new ResizeObserver(() => this.fill()).observe(box);
  }

  show(picture, shown) {
    this.picture = picture;
    this.shown = picture.events.filter(shown);
    this.places = new Map(this.shown.map((event, place) => [event.index, place]));
    this.row = parseFloat(getComputedStyle(document.documentElement).fontSize) * 2.5;
    this.rows.style.height = `${this.shown.length * this.row}px`;
    const all = picture.events.length;
    this.note.textContent = this.shown.length === all ? `${all.toLocaleString("en")} events; arrow keys move through them.`
      : `${this.shown.length.toLocaleString("en")} of ${all.toLocaleString("en")} events pass the filter.`;
    this.fill();
  }

  choose(index, scroll = true) {
    this.selected = index;
    const place = this.places.get(index);
    if (place !== undefined && scroll) {
      const top = place * this.row;
      if (top < this.box.scrollTop || top + this.row > this.box.scrollTop + this.box.clientHeight) {
        this.box.scrollTop = Math.max(0, top - this.box.clientHeight / 3);
      }
    }
    this.fill();
  }

  fill() {
    if (!this.picture) return;
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.row) - 4);
    const last = Math.min(this.shown.length, first + Math.ceil(this.box.clientHeight / this.row) + 9);
    const made = [];
    for (let place = first; place < last; place += 1) made.push(this.make(place));
    const chosen = this.places.get(this.selected);
    if (chosen !== undefined && (chosen < first || chosen >= last)) made.push(this.make(chosen));
    this.rows.replaceChildren(...made);
    if (chosen === undefined) this.box.removeAttribute("aria-activedescendant");
    else this.box.setAttribute("aria-activedescendant", `event-${this.selected}`);
  }

  make(place) {
    const event = this.shown[place];
    const failing = this.picture.failing.has(event.index);
    const row = element("div", "", event.mark.bad || failing ? "row bad" : "row");
    row.id = `event-${event.index}`;
    row.dataset.event = event.index;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(event.index === this.selected));
    row.setAttribute("aria-posinset", String(place + 1));
    row.setAttribute("aria-setsize", String(this.shown.length));
    row.style.top = `${place * this.row}px`;
    const sign = element("span", event.mark.letter || "·", "sign");
    sign.setAttribute("aria-hidden", "true");
    const what = element("span", failing ? `${event.says} – not as expected` : event.says, "what");
    what.dir = "auto";
    row.append(element("time", duration(event.at - this.picture.begin)), sign, what);
    return row;
  }

  pressed(press) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.row) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[press.key];
    if (step === undefined || press.ctrlKey || press.altKey || press.metaKey || !this.shown.length) return;
    press.preventDefault();
    const now = this.places.get(this.selected);
    const next = now === undefined ? (step > 0 && step !== Infinity ? 0 : step) : now + step;
    this.select(this.shown[Math.min(Math.max(0, next), this.shown.length - 1)].index, false);
  }
}
