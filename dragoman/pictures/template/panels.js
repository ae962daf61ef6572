/** What stands around the picture: the answers, what failed, the detail, the history as of an event, the legend. */
const CARDS = ["failed", "waited", "late", "refused", "committed", "ended", "tried", "forgotten"];
const FEW = 3;

const goTo = (says, event, select) => {
  const button = element("button", says, "go");
  button.type = "button";
  button.dir = "auto";
  if (event === null) button.disabled = true;
  else {
    button.dataset.event = event;
    button.addEventListener("click", () => select(event, true));
  }
  return button;
};

const showAnswers = (picture, topics, select) => {
  const cards = topics.map((topic, place) => {
    const told = picture.sentences.filter(([of]) => of === place);
    if (!told.length || place === 0) return null;
    const card = element("div", "", `card ${CARDS[place]}`);
    card.append(element("h3", topic));
    const list = element("ul");
    told.forEach(([, says, event], number) => {
      const item = element("li");
      item.append(goTo(says, event, select));
      item.hidden = number >= FEW && told.length > FEW + 1;
      list.append(item);
    });
    card.append(list);
    if (told.length > FEW + 1) {
      const more = element("button", `${told.length - FEW} more`, "more");
      more.type = "button";
      more.addEventListener("click", () => {
        for (const item of list.children) item.hidden = false;
        list.children[FEW].firstChild.focus();
        more.remove();
      });
      card.append(more);
    }
    return card;
  });
  byId("answers").replaceChildren(...cards.filter(Boolean));
  if (!byId("answers").children.length) byId("answers").append(element("p", "Nothing worth a sentence.", "quiet"));
};

const compared = (failed) => {
  const both = element("div", "", "compared");
  for (const [name, value] of [["expected", failed.expected], ["actual", failed.actual]]) {
    if (value === "") continue;
    const side = element("div");
    side.append(element("b", name), element("code", value));
    both.append(side);
  }
  return both;
};

const showFailures = (picture, select) => {
  byId("failures").hidden = !picture.failures.length;
  byId("failure-list").replaceChildren(...picture.failures.map((failed) => {
    const item = element("li");
    const where = failed.step === null ? "At the end" : `Step ${failed.step}`;
    item.append(goTo(`${where}, line ${failed.line}: ${failed.message}`, failed.event, select), compared(failed));
    return item;
  }));
};

const showHead = (picture) => {
  document.title = `${picture.title} – Dragoman`;
  byId("title").textContent = visible(picture.title);
  const verdict = byId("verdict");
  verdict.className = picture.passed === null ? "badge" : `badge ${picture.passed ? "passed" : "failed"}`;
  verdict.textContent = picture.passed === null ? "" : picture.passed ? "✓ passed" : "✗ failed";
  byId("about").textContent = visible(picture.about);
  const { events, lanes, sessions } = picture;
  const of = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  const span = events.length ? ` over ${duration(events[events.length - 1].at - picture.begin)}` : "";
  const turns = sessions.reduce((sum, session) => sum + session.turns.length, 0);
  byId("facts").textContent = [
    of(sessions.length, "session"), of(lanes.length, "request"), of(turns, "committed turn"), `${of(events.length, "event")}${span}`,
    ...(picture.texts ? [] : ["no texts, only their lengths"]), ...(picture.file ? [picture.file] : []),
  ].join(" · ");
  const remarks = [...picture.remarks];
  if (picture.leftOut) remarks.push(`Only the beginning is shown: ${of(picture.leftOut, "later note")} of the journal left out.`);
  byId("remarks").replaceChildren(...remarks.map((remark) => element("li", remark)));
  byId("remarks").hidden = !remarks.length;
};

const showDetail = (picture, event) => {
  const detail = byId("detail");
  const failed = event && picture.failures.filter((one) => one.event === event.index);
  detail.className = failed && failed.length ? "bad" : "";
  if (!event) {
    detail.replaceChildren(element("p", "Choose an event: here, in the picture or in the list.", "quiet"));
    return;
  }
  const parts = [element("p", event.says)];
  const lane = event.lane === null ? null : picture.lanes[event.lane];
  const parent = lane && event.parent !== null ? lane.parents[event.parent] : null;
  if (parent && parent.source !== null) parts.push(element("p", `source: ${textOf(parent.source)}`, "quiet"));
  if (parent && parent.result !== null) parts.push(element("p", `accepted: ${textOf(parent.result)}`, "quiet"));
  if (event.step !== null) parts.push(element("p", `step ${event.step} of the scenario`, "quiet"));
  for (const one of failed) parts.push(element("p", `Not as expected: ${one.message}`), compared(one));
  for (const part of parts) part.dir = "auto";
  detail.replaceChildren(...parts);
};

/** Each session with the turns that it holds right after an event. */
const showHistory = (picture, index) => {
  const box = byId("history");
  const opened = new Set(Array.from(box.querySelectorAll("details[open]"), (one) => Number(one.dataset.session)));
  const event = index === null ? null : picture.events[index];
  const only = picture.sessions.length === 1;
  const last = index === null ? picture.events.length : index;
  box.replaceChildren(...picture.sessions.map((session) => {
    const held = session.turns.filter((turn) => turn.event <= last && (turn.until === null || turn.until > last));
    const details = element("details");
    details.dataset.session = session.index;
    details.open = only || opened.has(session.index) || (event !== null && event.session === session.index);
    const summary = element("summary");
    const name = element("bdi", session.id);
    summary.append("session ", name, `: ${held.length} turn${held.length === 1 ? "" : "s"}`);
    details.append(summary);
    const list = element("ol");
    for (const turn of held) {
      const lane = picture.lanes[turn.lane];
      const item = element("li", "", turn.event === index ? "new" : "");
      const who = element("bdi", `${lane.id}/${lane.parents[turn.parent].id}`, "who");
      item.append(who, ` ${turn.event === index ? "(new) " : ""}`);
      for (const text of [turn.user, turn.assistant]) {
        if (text === null) continue;
        const said = element("span", textOf(text), "said");
        said.dir = "auto";
        item.append(said);
      }
      list.append(item);
    }
    if (held.length) details.append(list);
    return details;
  }));
  byId("history-note").textContent = picture.sessions.length
    ? `The turns that each session holds ${index === null ? "at the end" : `right after event ${index + 1}`}; move the time to see it grow.`
    : "No session was opened.";
  for (const list of box.querySelectorAll("ol")) list.scrollTop = list.scrollHeight;
};

const showLegend = (colours) => {
  const marks = [ACKS.ACCEPTED, ACKS.REJECTED, ACKS.STALE, ACKS.DUPLICATE, ACKS.INVALID_RESULT, ACKS.CONFLICT, ACKS.UNKNOWN_PARENT,
    MARKS.commit, MARKS.commitFailed, MARKS.register, MARKS.turn, MARKS.passing, MARKS.close, MARKS.closeEarly, MARKS.answerBad,
    MARKS.retry, MARKS.session, MARKS.sessionEnd, MARKS.face];
  const spans = [
    ["open, without a window yet", (c) => { c.fillStyle = colours.open; c.fillRect(2, 2, 40, 18); }],
    ["the ACK window; a red end: it ended before all ACKs were there", (c) => {
      c.fillStyle = colours.window; c.fillRect(2, 2, 38, 18);
      c.fillStyle = colours["window-edge"]; c.fillRect(2, 2, 38, 1.5); c.fillRect(2, 18.5, 38, 1.5);
      c.fillStyle = colours.bad; c.fillRect(38.5, 0, 3, 22);
    }],
    ["accepted, and waiting for earlier requests", (c) => {
      c.fillStyle = colours.waiting; c.fillRect(2, 4, 40, 14); c.strokeStyle = colours["waiting-edge"]; c.strokeRect(2.5, 4.5, 39, 13);
      for (let x = 6; x < 40; x += 8) { c.beginPath(); c.moveTo(x, 17); c.lineTo(x + 8, 5); c.stroke(); }
    }],
    ["a parent that is accepted, not yet committed", (c) => { c.fillStyle = colours.held; c.fillRect(2, 6, 40, 10); }],
    ["a call to the provider; violet: a recovery pass; dashes: a pause before a retry", (c) => {
      c.fillStyle = colours.call; c.fillRect(2, 4, 24, 4); c.fillStyle = colours.recovery; c.fillRect(18, 10, 24, 4);
      c.fillStyle = colours.odd; for (let x = 2; x < 42; x += 6) c.fillRect(x, 17, 3, 2);
    }],
    ["how many turns the session holds", (c) => { c.fillStyle = colours.history; c.fillRect(2, 14, 14, 6); c.fillRect(16, 9, 13, 11); c.fillRect(29, 3, 13, 17); }],
  ];
  const entry = (says, paint) => {
    const box = element("div");
    const term = element("dt");
    const canvas = element("canvas");
    canvas.width = 88;
    canvas.height = 44;
    canvas.setAttribute("aria-hidden", "true");
    const c = canvas.getContext("2d");
    c.scale(2, 2);
    paint(c);
    term.append(canvas);
    box.append(term, element("dd", says));
    return box;
  };
  byId("legend").replaceChildren(
    ...spans.map(([says, paint]) => entry(says, paint)),
    ...marks.map((mark) => entry(mark.says, (c) => drawMark(c, mark, 22, 11, 7, colours, true))),
  );
};
