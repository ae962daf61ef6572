/** Draws what is in view. */
const MIN_GAP = 11;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

class Drawing extends View {
  paint() {
    const { context: c, colours } = this;
    const ratio = this.canvas.width / this.width;
    this.scroll = this.scroller.scrollTop;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = colours.ground;
    c.fillRect(0, 0, this.width, this.height);
    this.first = Math.max(0, this.axis.firstFrom(this.from) - 1);
    this.last = Math.min(this.picture.events.length - 1, this.axis.firstFrom(this.place(this.width)) + 1);
    c.save();
    c.translate(0, -this.scroll);
    const visible = this.rows.all.filter((row) => row.top + row.height >= this.scroll && row.top <= this.scroll + this.height);
    c.save();
    c.beginPath();
    c.rect(this.left, this.scroll, this.room, this.height);
    c.clip();
    for (const row of visible) this.ground(row);
    this.failing();
    for (const row of visible) this.spans(row);
    for (const row of visible) this.lateness(row);
    this.cursor();
    for (const row of visible) this.marks(row);
    this.ring();
    c.restore();
    for (const row of visible) this.name(row);
    c.restore();
    this.ticks();
  }

  ground(row) {
    const { context: c, colours } = this;
    c.fillStyle = row.kind === "session" || row.kind === "rest" ? colours.panel : colours.ground;
    c.fillRect(0, row.top, this.width, row.height);
    c.fillStyle = colours[row.kind === "session" ? "line" : "lane"];
    c.fillRect(0, row.top, this.width, 1);
    if (row.kind === "session") this.growth(row);
  }

  /** How many turns the session holds, as steps that grow. */
  growth(row) {
    const { context: c } = this;
    const { turns } = row.session;
    if (!turns.length) return;
    const changes = turns.flatMap((turn) => [[turn.event, 1], ...(turn.until === null ? [] : [[turn.until, -1]])]).sort((a, b) => a[0] - b[0]);
    let most = 0;
    let count = 0;
    for (const [, change] of changes) most = Math.max(most, count += change);
    const bottom = row.top + row.height - 2;
    const room = row.height - (this.rows.named ? ROW.name : 0) - 6;
    c.fillStyle = this.colours.history;
    count = 0;
    let x = this.left;
    for (const [event, change] of [...changes, [null, 0]]) {
      const next = event === null ? this.width : this.xOf(event);
      const start = Math.round(Math.max(x, this.left));
      const wide = Math.round(next) - start;
      if (count && wide > 0) c.fillRect(start, bottom - (room * count) / most, wide, (room * count) / most);
      x = next;
      count += change;
    }
  }

  failing() {
    const { context: c, colours } = this;
    for (const index of this.picture.failing) {
      if (index === null) continue;
      c.fillStyle = colours["bad-ground"];
      c.fillRect(this.xOf(index) - 9, this.scroll, 18, this.height);
      c.fillStyle = colours.bad;
      c.fillRect(this.xOf(index) - 9, this.scroll, 1.5, this.height);
      c.fillRect(this.xOf(index) + 7.5, this.scroll, 1.5, this.height);
    }
  }

  spans(row) {
    if (row.kind !== "lane" && row.kind !== "parent") return;
    for (const span of row.lane.spans) {
      const [from, to] = this.extent(span);
      if (to < this.left || from > this.width) continue;
      if (row.kind === "parent") {
        if (span.kind === "open") this.bar(from, row.middle - 1, to - from, 2, this.colours.open);
        if (span.kind === "held" && span.parent === row.at) this.bar(from, row.middle - 5, to - from, 10, this.colours.held);
        continue;
      }
      if (span.kind === "open") this.bar(from, row.middle - 12, to - from, 24, this.colours.open);
      else if (span.kind === "window") this.window(span, from, to, row.middle);
      else if (span.kind === "waiting") this.waiting(span, from, to, row.middle + 13);
      else if (span.kind === "call" || span.kind === "pause") this.call(span, from, to, row);
    }
  }

  /** From the closing of a request to an ACK that came too late: by how much. */
  lateness(row) {
    if (row.kind !== "parent" && !(row.kind === "lane" && !row.parents.length)) return;
    const { context: c, colours } = this;
    const open = row.lane.spans.find((span) => span.kind === "open" && span.end !== null);
    const late = this.eventsOf(row).find((event) => event.late !== null && this.shown(event));
    if (!open || !late) return;
    const [from, to] = [this.xOf(open.end) + 3, this.xOf(late.index) - 8];
    if (to - from < 6 || from > this.width || to < this.left) return;
    for (let x = Math.max(from, this.left); x < Math.min(to, this.width); x += 7) this.bar(x, row.middle - 0.75, 4, 1.5, colours.bad);
    const label = `${duration(late.late)} late`;
    c.font = `600 10.5px ${FONT}`;
    const wide = c.measureText(label).width;
    if (to - from < wide + 16) return;
    this.bar((from + to - wide) / 2 - 4, row.middle - 7, wide + 8, 14, colours.ground);
    c.fillStyle = colours.bad;
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillText(label, (from + to - wide) / 2, row.middle + 0.5);
  }

  bar(x, y, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  window(span, from, to, middle) {
    const { colours } = this;
    this.bar(from, middle - 12, to - from, 24, colours.window);
    this.bar(from, middle - 12, to - from, 1.5, colours["window-edge"]);
    this.bar(from, middle + 10.5, to - from, 1.5, colours["window-edge"]);
    if (span.word === "EXPIRED") this.bar(to - 1.5, middle - 14, 3, 28, colours.bad);
  }

  waiting(span, from, to, top) {
    const { context: c, colours } = this;
    this.bar(from, top, to - from, 13, colours.waiting);
    if (!this.hatch) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 8;
      const t = tile.getContext("2d");
      t.strokeStyle = colours["waiting-edge"];
      t.globalAlpha = 0.45;
      t.beginPath();
      for (const shift of [-8, 0, 8]) { t.moveTo(shift, 8); t.lineTo(shift + 8, 0); }
      t.stroke();
      this.hatch = c.createPattern(tile, "repeat");
    }
    this.bar(from, top, to - from, 13, this.hatch);
    c.strokeStyle = colours["waiting-edge"];
    c.lineWidth = 1;
    c.strokeRect(from + 0.5, top + 0.5, Math.max(1, to - from - 1), 12);
    const names = span.waits.map((lane) => this.picture.lanes[lane].id);
    const label = `waits for ${names.slice(0, 2).join(", ")}${names.length > 2 ? ` +${names.length - 2}` : ""}`;
    const start = Math.max(from, this.left) + 6;
    c.font = `600 10.5px ${FONT}`;
    const wide = c.measureText(label).width;
    if (names.length && Math.min(to, this.width) - start > wide + 8) {
      this.bar(start - 3, top + 1, wide + 6, 11, colours.waiting);
      c.fillStyle = colours.text;
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.fillText(label, start, top + 7);
    }
  }

  call(span, from, to, row) {
    const { colours } = this;
    const y = row.middle + 14 + row.lane.below + span.row * ROW.call;
    const kind = this.picture.events[span.begin].kind;
    if (span.kind === "pause") {
      for (let x = Math.max(from, this.left); x < Math.min(to, this.width); x += 6) this.bar(x, y + 1, 3, 2, colours.odd);
      return;
    }
    this.bar(from, y, to - from, 4, colours[kind === "recovery" ? "recovery" : "call"]);
    if (span.end !== null && !GOOD_ANSWERS.has(span.word)) this.bar(to - 3, y - 1, 4, 6, colours.odd);
  }

  cursor() {
    if (this.selected === null) return;
    this.bar(this.xOf(this.selected) - 0.75, this.scroll, 1.5, this.height, this.colours.cursor);
  }

  /** The marks of a row: the weightiest where they crowd, the others as thin strokes under them. */
  marks(row) {
    const events = this.eventsOf(row);
    const { context: c } = this;
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (events[middle].index < this.first) low = middle + 1;
      else high = middle;
    }
    const radius = row.kind === "parent" ? 6 : 7;
    let group = [];
    const flush = () => {
      if (!group.length) return;
      let best = group[0];
      for (const one of group) if (one.event.mark.weight > best.event.mark.weight) best = one;
      for (const one of group) if (one !== best) this.bar(one.x - 0.75, row.middle - radius, 1.5, radius * 2, this.colours[one.event.mark.colour]);
      drawMark(c, best.event.mark, best.x, row.middle, radius, this.colours, true);
      group = [];
    };
    for (let i = low; i < events.length && events[i].index <= this.last; i += 1) {
      const event = events[i];
      if (!this.shown(event)) continue;
      const x = this.xOf(event.index);
      if (group.length && x - group[0].x >= MIN_GAP) flush();
      group.push({ event, x });
    }
    flush();
  }

  ring() {
    if (this.selected === null) return;
    const { context: c } = this;
    const row = this.rows.of(this.picture.events[this.selected]);
    if (!row) return;
    c.beginPath();
    c.arc(this.xOf(this.selected), row.middle, 11, 0, 7);
    c.lineWidth = 2.5;
    c.strokeStyle = this.colours.focus;
    c.stroke();
  }

  name(row) {
    const { context: c, colours } = this;
    const session = row.kind === "session";
    if (!this.rows.named) {
      c.fillStyle = session || row.kind === "rest" ? colours.panel : colours.ground;
      c.fillRect(0, row.top + 1, this.left - 1, row.height - 1);
      c.fillStyle = colours.line;
      c.fillRect(this.left - 1, row.top, 1, row.height);
    }
    c.font = `${session ? 700 : row.kind === "lane" ? 600 : 400} ${row.kind === "parent" ? 11 : 12.5}px ${FONT}`;
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillStyle = row.kind === "parent" ? colours.quiet : colours.text;
    const y = this.rows.named ? row.top + ROW.name / 2 + 2 : row.middle;
    let x = session || row.kind === "rest" ? 8 : row.kind === "lane" ? 22 : 36;
    if (row.kind === "lane" && row.lane.parents.length) {
      c.fillText(this.rows.unfolded.has(row.lane.index) ? "▾" : "▸", 9, y);
    }
    const limit = (this.rows.named ? this.width : this.left) - x - 8;
    let label = row.kind === "rest" ? "the runtime" : session ? `session ${row.session.id}` : row.kind === "lane" ? row.lane.id : row.parent.id;
    if (row.kind === "parent" && row.parent.source !== null && (this.rows.named || row.parent.id.length < 10)) label += `  ${textOf(row.parent.source)}`;
    c.fillText(this.cut(label.replace(/\s+/g, " "), limit), x, y);
  }

  cut(told, limit) {
    const { context: c } = this;
    const label = visible(told);
    if (c.measureText(label).width <= limit) return label;
    const signs = Array.from(label);
    let low = 0;
    let high = signs.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (c.measureText(`${signs.slice(0, middle).join("")}…`).width <= limit) low = middle;
      else high = middle - 1;
    }
    return `${signs.slice(0, low).join("")}…`;
  }

  ticks() {
    const { context: c, colours, axis } = this;
    c.fillStyle = colours.panel;
    c.fillRect(0, 0, this.width, ROW.axis - 2);
    c.fillStyle = colours.line;
    c.fillRect(0, ROW.axis - 3, this.width, 1);
    c.font = `11px ${FONT}`;
    c.textBaseline = "middle";
    c.textAlign = "left";
    let free = this.left;
    let at = null;
    for (let i = this.first; i <= this.last; i += 1) {
      const event = this.picture.events[i];
      if (event.at === at) continue;
      const x = this.xOf(i);
      const before = at;
      at = event.at;
      if (x < free) continue;
      const label = duration(event.at - axis.begin);
      const wide = c.measureText(label).width;
      if (x + wide > this.width) break;
      c.fillStyle = colours.strong;
      c.fillRect(x - 0.5, ROW.axis - 9, 1, 7);
      c.fillStyle = colours.text;
      c.fillText(label, x, 9);
      free = x + wide + 14;
      this.gap(before, event.at, i, x);
    }
    for (const index of this.picture.failing) {
      if (index === null) continue;
      const x = this.xOf(index);
      if (x < this.left || x > this.width) continue;
      drawMark(c, { shape: "triangle", letter: "!", colour: "bad" }, x, 23, 8, colours, true);
    }
    if (!this.rows.named) {
      c.fillStyle = colours.panel;
      c.fillRect(0, 0, this.left - 1, ROW.axis - 3);
      c.fillStyle = colours.quiet;
      c.fillText(axis.scale === "even" ? "time, gaps shortened" : "time", 8, 16);
    }
  }

  /** Says how long a gap is where the scale shortens it. */
  gap(before, now, index, x) {
    if (before === null || this.axis.scale !== "even" || index === 0) return;
    const { context: c, colours } = this;
    const from = this.xOf(index - 1);
    const label = `+${duration(now - before)}`;
    const wide = c.measureText(label).width;
    if (x - from < wide + 12) return;
    c.fillStyle = colours.quiet;
    c.fillText(label, (from + x - wide) / 2, ROW.axis - 11);
  }

}
