/** What each event looks like: a shape, a letter and a colour, of which any one tells it apart. */
const KINDS = {
  acks: "ACKs",
  commits: "commits",
  windows: "windows and waits",
  calls: "provider calls",
  others: "sessions, reads",
};

const ACKS = {
  ACCEPTED: { shape: "disc", letter: "A", colour: "accept", weight: 3, says: "ACK accepted" },
  REJECTED: { shape: "square", letter: "R", colour: "reject", weight: 3, says: "parent rejected" },
  STALE: { shape: "cross", letter: "S", colour: "bad", weight: 9, bad: true, says: "ACK came too late: STALE, changes nothing" },
  INVALID_RESULT: { shape: "triangle", letter: "I", colour: "odd", weight: 6, says: "ACK refused: no clean result" },
  CONFLICT: { shape: "triangle", letter: "C", colour: "odd", weight: 6, says: "ACK against an earlier decision" },
  UNKNOWN_PARENT: { shape: "triangle", letter: "U", colour: "odd", weight: 6, says: "ACK for no parent of the request" },
  DUPLICATE: { shape: "ring", letter: "D", colour: "plain", weight: 4, says: "said again: DUPLICATE" },
};
const OTHER_ACK = { shape: "ring", letter: "?", colour: "odd", weight: 4, says: "another reply" };

const MARKS = {
  register: { shape: "play", letter: "", colour: "plain", weight: 2, group: "windows", says: "registered, or started" },
  window: { shape: "bracket", letter: "W", colour: "window-edge", weight: 2, group: "windows", says: "activated: the ACK window begins" },
  complete: { shape: "tick", letter: "", colour: "accept", weight: 1, group: "windows", says: "every parent has its ACK" },
  wait: { shape: "bracket", letter: "…", colour: "waiting-edge", weight: 4, group: "windows", says: "begins to wait for earlier requests" },
  turn: { shape: "play", letter: "", colour: "commit", weight: 2, group: "windows", says: "its turn to commit has come" },
  passing: { shape: "triangle", letter: "P", colour: "odd", weight: 5, group: "windows", says: "an earlier request is passed over" },
  close: { shape: "end", letter: "", colour: "plain", weight: 5, group: "windows", says: "closed as it should: COMPLETED" },
  closeEarly: { shape: "end", letter: "", colour: "bad", weight: 7, group: "windows", bad: true, says: "closed early: expired, cancelled, passed over …" },
  commit: { shape: "diamond", letter: "✓", colour: "commit", weight: 7, group: "commits", says: "committed: a turn of the history" },
  commitFailed: { shape: "diamond", letter: "✗", colour: "bad", weight: 9, group: "commits", bad: true, says: "the commit failed: no turn" },
  made: { shape: "dot", letter: "", colour: "call", weight: 1, group: "calls", says: "a call to the provider" },
  recovery: { shape: "dot", letter: "", colour: "recovery", weight: 2, group: "calls", says: "a recovery pass" },
  answer: { shape: "tick", letter: "", colour: "call", weight: 1, group: "calls", says: "an answer" },
  answerBad: { shape: "triangle", letter: "!", colour: "odd", weight: 5, group: "calls", says: "a failed or violating answer" },
  retry: { shape: "ring", letter: "↻", colour: "odd", weight: 5, group: "calls", says: "a retry is due after a pause" },
  fired: { shape: "dot", letter: "", colour: "plain", weight: 1, group: "calls", says: "a timer fires" },
  dropped: { shape: "dot", letter: "", colour: "odd", weight: 2, group: "calls", says: "a call is dropped" },
  dispatched: { shape: "dot", letter: "", colour: "plain", weight: 1, group: "calls", says: "given to the feature" },
  execution: { shape: "tick", letter: "", colour: "plain", weight: 1, group: "calls", says: "the execution ends" },
  outcome: { shape: "tick", letter: "", colour: "plain", weight: 2, group: "calls", says: "the outcome" },
  session: { shape: "square", letter: "", colour: "plain", weight: 3, group: "others", says: "a session opens" },
  sessionEnd: { shape: "end", letter: "", colour: "odd", weight: 6, group: "others", says: "a session is cleared, evicted or expires" },
  face: { shape: "dot", letter: "", colour: "plain", weight: 1, group: "others", says: "another call: a read, a claim, a look" },
  step: { shape: "dot", letter: "", colour: "plain", weight: 1, group: "others", says: "a step" },
};
MARKS.translate = MARKS.register;
MARKS.direct = MARKS.register;

const GOOD_ANSWERS = new Set(["NORMAL", "STOP"]);

const markOf = (event) => {
  if (event.kind === "ack" || event.kind === "reject") return { group: "acks", ...(ACKS[event.word] || OTHER_ACK) };
  if (event.kind === "close" && event.word !== "COMPLETED") return MARKS.closeEarly;
  if (event.kind === "commit" && event.word !== "COMMITTED") return MARKS.commitFailed;
  if (event.kind === "answer" && !GOOD_ANSWERS.has(event.word)) return MARKS.answerBad;
  if (event.kind === "session" && event.word !== "OPENED") return MARKS.sessionEnd;
  return MARKS[event.kind] || MARKS.step;
};

const SHAPES = {
  disc: (c, r) => c.arc(0, 0, r, 0, 7),
  ring: (c, r) => c.arc(0, 0, r, 0, 7),
  dot: (c, r) => c.arc(0, 0, r * 0.42, 0, 7),
  square: (c, r) => c.rect(-r * 0.85, -r * 0.85, r * 1.7, r * 1.7),
  diamond: (c, r) => { c.moveTo(0, -r * 1.2); c.lineTo(r * 1.2, 0); c.lineTo(0, r * 1.2); c.lineTo(-r * 1.2, 0); },
  triangle: (c, r) => { c.moveTo(0, -r * 1.15); c.lineTo(r * 1.2, r); c.lineTo(-r * 1.2, r); },
  play: (c, r) => { c.moveTo(-r * 0.6, -r * 0.8); c.lineTo(r * 0.8, 0); c.lineTo(-r * 0.6, r * 0.8); },
  tick: (c, r) => c.rect(-1, -r, 2, r * 2),
  bracket: (c, r) => { c.rect(-1.5, -r * 1.2, 3, r * 2.4); c.rect(-1.5, -r * 1.2, r, 2); c.rect(-1.5, r * 1.2 - 2, r, 2); },
  end: (c, r) => c.rect(-2, -r * 1.25, 4, r * 2.5),
  cross: (c, r) => { c.arc(0, 0, r * 1.1, 0, 7); },
};

/** Draw a mark around (x, y); with little room only its outline in its colour. */
const drawMark = (c, mark, x, y, r, colours, full) => {
  c.save();
  c.translate(x, y);
  c.beginPath();
  SHAPES[mark.shape](c, r);
  c.closePath();
  if (mark.shape === "ring" || mark.shape === "cross") {
    c.fillStyle = colours.ground;
    c.fill();
    c.lineWidth = mark.shape === "cross" ? 2 : 1.6;
    c.strokeStyle = colours[mark.colour];
    c.stroke();
    if (mark.shape === "cross") {
      c.beginPath();
      c.moveTo(-r * 0.55, -r * 0.55); c.lineTo(r * 0.55, r * 0.55); c.moveTo(-r * 0.55, r * 0.55); c.lineTo(r * 0.55, -r * 0.55);
      c.stroke();
    }
  } else {
    c.fillStyle = colours[mark.colour];
    c.fill();
  }
  if (full && mark.letter && mark.shape !== "bracket" && mark.shape !== "cross") {
    c.fillStyle = mark.shape === "ring" ? colours[mark.colour] : colours["on-mark"];
    c.font = `700 ${Math.round(r * 1.35)}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(mark.letter, 0, mark.shape === "triangle" ? r * 0.3 : 0.5);
  }
  c.restore();
};
