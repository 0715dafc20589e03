// Draws lines. A line that is drawn and did not change is not touched, so that nothing is read out twice.

const STATES = { sending: "sending…", waiting: "delivered" };

export class Log {
  // `actions`: edit(client id), remove(client id) for a message that was refused.
  constructor(element, actions) {
    this.element = element;
    this.actions = actions;
    this.drawn = new Map();
  }

  // Returns the keys of the bot's lines that were not there before.
  draw(lines) {
    const fresh = [];
    const keys = new Set(lines.map((line) => line.key));
    for (const [key, { node }] of this.drawn) {
      if (!keys.has(key)) {
        node.remove();
        this.drawn.delete(key);
      }
    }
    let place = this.element.firstChild;
    for (const line of lines) {
      const look = JSON.stringify([line.text, line.html, line.state, line.refused]);
      let known = this.drawn.get(line.key);
      if (!known) {
        known = { node: this.make(line), look };
        if (line.kind === "bot") fresh.push(line.key);
        this.drawn.set(line.key, known);
        this.element.insertBefore(known.node, place);
        continue;
      }
      if (known.look !== look) {
        this.fill(known.node, line);
        known.look = look;
      }
      if (known.node === place) place = place.nextSibling;
      else this.element.insertBefore(known.node, place);
    }
    return fresh;
  }

  make(line) {
    if (line.kind === "note" || line.kind === "day") {
      const note = make("p", `note ${line.kind}`);
      note.append(make("span", "", line.text));
      return note;
    }
    const article = make("article", line.kind);
    const time = new Date(line.date);
    article.setAttribute("aria-label", `${line.kind === "bot" ? "The bot" : "You"}, ${clock(time)}`);
    this.fill(article, line);
    return article;
  }

  fill(node, line) {
    if (line.kind === "bot") {
      // Safe by construction: the gateway renders it from Markdown, without raw HTML.
      const body = make("div", "prose");
      body.innerHTML = line.html;
      const copy = button("Copy", () => copyText(line.text, copy));
      copy.setAttribute("aria-label", "Copy this answer");
      node.replaceChildren(body, under(copy, stamp(line.date)));
    } else if (line.kind === "person") {
      node.classList.toggle("pending", Boolean(line.state));
      node.classList.toggle("refused", line.state === "refused");
      const bubble = make("div", "bubble", line.text);
      bubble.dir = "auto";
      node.replaceChildren(bubble, this.personUnder(line));
    }
  }

  personUnder(line) {
    if (line.state !== "refused") return under(STATES[line.state] ?? stamp(line.date));
    return under(
      line.refused,
      button("Edit", () => this.actions.edit(line.client, line.text)),
      button("Remove", () => this.actions.remove(line.client)),
    );
  }
}

// Both the secure way and, where a page has no right to it (plain http from another machine), the old one.
export async function copyText(text, pressed) {
  let done = await (navigator.clipboard?.writeText(text).then(() => true, () => false) ?? false);
  if (!done) {
    const area = make("textarea", "hidden");
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    pressed.focus();
  }
  const before = pressed.dataset.label ?? (pressed.dataset.label = pressed.textContent);
  pressed.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => (pressed.textContent = before), 1600);
}

function under(...parts) {
  const row = make("div", "under");
  row.append(...parts);
  return row;
}

function stamp(date) {
  const time = make("time", "", clock(new Date(date)));
  time.dateTime = date;
  return time;
}

function clock(time) {
  return time.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

function button(text, pressed) {
  const node = make("button", "", text);
  node.type = "button";
  node.addEventListener("click", pressed);
  return node;
}

function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}
