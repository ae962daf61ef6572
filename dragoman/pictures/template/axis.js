/** Where an event stands: `even` gives each its place and long gaps little room, `true` is proportional to time. */
class Axis {
  constructor(events, begin) {
    this.events = events;
    this.begin = begin;
    this.scales = { even: this.even(), true: this.trueToTime() };
    this.use("even");
  }

  use(scale) {
    this.scale = scale;
    this.at = this.scales[scale];
    this.length = this.events.length ? this.at[this.events.length - 1] + 1 : 1;
  }

  even() {
    const { events } = this;
    const gaps = [];
    for (let i = 1; i < events.length; i += 1) if (events[i].at > events[i - 1].at) gaps.push(events[i].at - events[i - 1].at);
    gaps.sort((a, b) => a - b);
    const usual = gaps[Math.floor(gaps.length / 2)] || 1;
    const at = new Float64Array(events.length);
    let place = 1;
    for (let i = 0; i < events.length; i += 1) {
      if (i > 0) {
        const gap = events[i].at - events[i - 1].at;
        place += gap > 0 ? 1 + Math.min(4, 0.8 * Math.log2(1 + gap / usual)) : 0.7;
      }
      at[i] = place;
    }
    return at;
  }

  trueToTime() {
    const { events } = this;
    const last = events.length ? events[events.length - 1].at : 0;
    const scale = Math.max(1, events.length) / Math.max(1, last - this.begin);
    return Float64Array.from(events, (event) => 1 + (event.at - this.begin) * scale);
  }

  /** The place of an instant, between those of the events around it. */
  of(us) {
    const { events, at } = this;
    const after = this.firstAt(us);
    if (after >= events.length) return this.length;
    if (events[after].at === us || after === 0) return at[after];
    const before = events[after - 1].at;
    return at[after - 1] + ((us - before) / (events[after].at - before)) * (at[after] - at[after - 1]);
  }

  /** The first event at an instant or later. */
  firstAt(us) {
    return this.search((i) => this.events[i].at >= us);
  }

  firstFrom(place) {
    return this.search((i) => this.at[i] >= place);
  }

  search(holds) {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
