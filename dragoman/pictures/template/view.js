/** What part of the picture is in view: its scale and place, and what is where in it. */
const COLOURS = ["ground", "panel", "lane", "line", "strong", "text", "quiet", "focus", "cursor", "open", "window", "window-edge",
  "waiting", "waiting-edge", "held", "call", "recovery", "pause", "accept", "reject", "commit", "bad", "odd", "plain", "on-mark",
  "bad-ground", "history"];

class View {
  constructor(canvas, scroller, spacer) {
    Object.assign(this, { canvas, scroller, spacer, context: canvas.getContext("2d"), frames: [], wanted: false });
    this.readColours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.readColours(); this.draw(); });
    new ResizeObserver(() => this.resize()).observe(scroller);
    scroller.addEventListener("scroll", () => this.draw());
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.hatch = null;
  }

  show(picture, shown) {
    Object.assign(this, { picture, shown, rows: new Rows(picture), axis: new Axis(picture.events, picture.begin), selected: null });
    this.resize();
    this.fit();
  }

  resize() {
    const width = this.scroller.clientWidth;
    if (!this.picture || !width) return;
    const fitted = this.unit === undefined || this.unit <= this.fitting() * 1.001;
    this.width = width;
    this.rows.named = width < 560;
    this.left = this.rows.named ? 0 : Math.min(210, Math.round(width * 0.2));
    this.rows.lay();
    this.layout();
    if (fitted) this.fit();
  }

  layout() {
    this.height = Math.min(this.rows.height, Math.max(260, Math.min(innerHeight * 0.72, 736)));
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.spacer.style.height = `${Math.max(0, this.rows.height - this.height)}px`;
    this.draw();
  }

  get room() { return this.width - this.left; }
  fitting() { return (this.room || 1) / (this.axis.length + 1); }
  x(place) { return this.left + (place - this.from) * this.unit; }
  xOf(index) { return this.x(this.axis.at[index]); }
  place(x) { return (x - this.left) / this.unit + this.from; }

  fit() {
    this.unit = this.fitting();
    this.from = 0;
    this.draw();
  }

  move(from) {
    const most = Math.max(0, this.axis.length + 1 - this.room / this.unit);
    this.from = Math.min(Math.max(0, from), most);
    this.draw();
  }

  zoom(factor, x = this.left + this.room / 2) {
    const place = this.place(x);
    this.unit = Math.min(Math.max(this.unit * factor, this.fitting()), Math.max(60, this.fitting()));
    this.move(place - (x - this.left) / this.unit);
  }

  rescale(scale) {
    this.axis.use(scale);
    this.fit();
  }

  /** Bring an event into view. */
  reveal(index) {
    const x = this.xOf(index);
    if (x < this.left + 24 || x > this.width - 24) this.move(this.axis.at[index] - this.room / this.unit / 2);
    const row = this.rows.of(this.picture.events[index]);
    if (!row) return;
    const top = this.scroller.scrollTop;
    if (row.top - ROW.axis < top) this.scroller.scrollTop = row.top - ROW.axis;
    else if (row.top + row.height > top + this.height) this.scroller.scrollTop = row.top + row.height - this.height + 8;
    this.draw();
  }

  draw() {
    if (this.wanted || !this.picture) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      const began = performance.now();
      this.paint();
      this.frames.push(performance.now() - began);
      if (this.frames.length > 600) this.frames.shift();
    });
  }

  eventsOf(row) {
    if (row.kind === "session") return row.session.events;
    if (row.kind === "rest") return this.picture.events.filter((event) => event.session === null && event.lane === null);
    if (row.kind === "parent") {
      row.events ||= row.lane.events.filter((event) => event.parent === row.at);
      return row.events;
    }
    if (row.parents.length) row.events ||= row.lane.events.filter((event) => event.parent === null);
    return row.events || row.lane.events;
  }

  extent(span) {
    const from = this.xOf(span.begin);
    let to = span.end === null ? this.x(this.axis.length) : this.xOf(span.end);
    if (span.end === null && span.kind === "pause") to = this.x(this.axis.of(span.until));
    return [from, Math.max(to, from + 2)];
  }

  /** The event whose mark is nearest to a point, within reach. */
  hit(x, y) {
    const row = this.rows.at(y + this.scroller.scrollTop);
    if (!row || x < this.left || y < ROW.axis) return null;
    let best = null;
    let nearest = 10;
    for (const event of this.eventsOf(row)) {
      if (event.index < this.first || event.index > this.last || !this.shown(event)) continue;
      const distance = Math.abs(this.xOf(event.index) - x) - event.mark.weight * 0.2;
      if (distance < nearest) { nearest = distance; best = event; }
    }
    return best;
  }

  /** The span at a point of a lane, the shortest of them. */
  spanAt(x, y) {
    const row = this.rows.at(y + this.scroller.scrollTop);
    if (!row || row.kind !== "lane" || x < this.left) return null;
    const deep = y + this.scroller.scrollTop - row.middle - 13;
    const belowWaits = deep - row.lane.below;
    const found = row.lane.spans.filter((span) => {
      const [from, to] = this.extent(span);
      const there = span.row !== undefined ? Math.floor(belowWaits / ROW.call) === span.row
        : span.kind === "waiting" ? deep >= 0 && belowWaits < 0 : deep < 0;
      return span.says && x >= from && x <= to && there;
    });
    return found.sort((a, b) => this.extent(a)[1] - this.extent(a)[0] - this.extent(b)[1] + this.extent(b)[0])[0] || null;
  }

  /** Where an event is drawn, in pixels of the canvas. */
  whereIs(index) {
    const row = this.rows.of(this.picture.events[index]);
    return row && { x: this.xOf(index), y: row.middle - this.scroller.scrollTop, row: row.kind };
  }
}
