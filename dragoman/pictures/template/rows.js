/** The rows of a picture from top to bottom: a session, its requests, and the parents of those that are unfolded. */
const ROW = { axis: 34, session: 30, lane: 30, parent: 20, wait: 14, call: 6, name: 15 };
const MAX_CALL_ROWS = 6;

const decode = (plain) => {
  const events = plain.events.map(([at, kind, says, word, session, lane, parent, step, late], index) => {
    const event = { index, at, kind, says, word, session, lane, parent, step, late };
    event.mark = markOf(event);
    return event;
  });
  const sessions = plain.sessions.map(([id, turns], index) => ({
    id, index,
    turns: turns.map(([event, lane, parent, user, assistant, until]) => ({ event, lane, parent, user, assistant, until })),
  }));
  const lanes = plain.lanes.map(([id, session, kind, cause, parents, spans], index) => ({
    id, index, session, kind, cause,
    parents: parents.map(([name, source, result, state]) => ({ id: name, source, result, state })),
    spans: spans.map(([kindOf, begin, end, until, parent, word, waits, says]) => ({
      kind: kindOf, begin, end, until, parent, word, waits, says,
    })),
    events: [],
  }));
  for (const session of sessions) session.events = [];
  for (const event of events) {
    if (event.lane !== null) lanes[event.lane].events.push(event);
    else if (event.session !== null) sessions[event.session].events.push(event);
  }
  const failures = plain.failures.map(([line, step, expected, actual, message, event]) => ({ line, step, expected, actual, message, event }));
  for (const lane of lanes) stackCalls(lane);
  return { ...plain, events, sessions, lanes, failures, failing: new Set(failures.map((failed) => failed.event)) };
};

/** Calls that overlap lie under each other. */
const stackCalls = (lane) => {
  const free = [];
  for (const span of lane.spans) {
    if (span.kind !== "call" && span.kind !== "pause") continue;
    let row = free.findIndex((until) => until <= span.begin);
    if (row < 0) row = Math.min(free.length, MAX_CALL_ROWS - 1);
    free[row] = span.end === null ? Infinity : span.end;
    span.row = row;
  }
  lane.callRows = Math.min(free.length, MAX_CALL_ROWS);
  lane.below = lane.spans.some((span) => span.kind === "waiting") ? ROW.wait : 0;
};

class Rows {
  constructor(picture) {
    this.picture = picture;
    this.unfolded = new Set();
    this.named = false;
    const parents = picture.lanes.reduce((sum, lane) => sum + lane.parents.length, 0);
    if (parents <= 24) for (const lane of picture.lanes) this.unfolded.add(lane.index);
    this.lay();
  }

  /** Lay them out anew. With `named` the name of a row stands above it, where there is no room beside it. */
  lay() {
    this.all = [];
    this.ofLane = [];
    this.ofSession = [];
    const above = this.named ? ROW.name : 0;
    let top = ROW.axis;
    const add = (row, height) => {
      this.all.push({ ...row, top, height, middle: top + above + (height - above) / 2, place: this.all.length });
      top += height;
      return this.all[this.all.length - 1];
    };
    const loose = this.picture.events.some((event) => event.session === null && event.lane === null);
    if (loose) this.ofRest = add({ kind: "rest" }, ROW.session + above);
    for (const session of this.picture.sessions) {
      this.ofSession[session.index] = add({ kind: "session", session }, ROW.session + above);
      for (const lane of this.picture.lanes) {
        if (lane.session !== session.index) continue;
        const row = add({ kind: "lane", lane }, ROW.lane + above + lane.below + lane.callRows * ROW.call);
        row.middle = row.top + above + ROW.lane / 2;
        row.parents = [];
        this.ofLane[lane.index] = row;
        if (!this.unfolded.has(lane.index)) continue;
        lane.parents.forEach((parent, place) => row.parents.push(add({ kind: "parent", lane, parent, at: place }, ROW.parent + above)));
      }
    }
    this.height = top + 6;
  }

  toggle(lane) {
    if (!this.unfolded.delete(lane)) this.unfolded.add(lane);
    this.lay();
  }

  /** The row in which an event is drawn. */
  of(event) {
    if (event.lane !== null) {
      const row = this.ofLane[event.lane];
      return (event.parent !== null && row.parents[event.parent]) || row;
    }
    return event.session !== null ? this.ofSession[event.session] : this.ofRest;
  }

  at(y) {
    return this.all.find((row) => y >= row.top && y < row.top + row.height);
  }
}
