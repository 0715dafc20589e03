// Where to write: a field that grows, Enter that sends, and the list of commands that a slash opens.

export class Composer {
  // `send(text)`: the person sent it.
  constructor(form, memory, send) {
    this.field = form.querySelector("textarea");
    this.list = form.querySelector("[role=listbox]");
    Object.assign(this, { memory, send, commands: [], offered: [], chosen: 0, closed: false });
    this.field.value = memory.draft;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.field.addEventListener("input", () => {
      this.closed = false;
      this.changed();
    });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.offer([]));
    // A press on an option must not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.take([...this.list.children].indexOf(option));
    });
    this.grow();
  }

  // Puts words into the field, for the person to change or send.
  write(text) {
    this.field.value = text;
    this.closed = true;
    this.changed();
    this.field.focus();
    this.field.setSelectionRange(text.length, text.length);
  }

  submit() {
    const text = this.field.value;
    if (text.trim()) {
      this.field.value = "";
      this.changed();
      this.send(text);
    }
    this.field.focus();
  }

  key(event) {
    // While an input method composes, every key is its own.
    if (event.isComposing || event.keyCode === 229) return;
    const open = this.offered.length > 0;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.choose((this.chosen + step + this.offered.length) % this.offered.length);
    } else if (open && event.key === "Escape") {
      this.closed = true;
      this.offer([]);
    } else if (open && event.key === "Tab" && event.shiftKey) {
      // The list stands before the field: it must be gone before the focus moves there.
      return this.offer([]);
    } else if (open && ["Tab", "Enter"].includes(event.key) && !event.shiftKey && !this.complete(event.key)) {
      this.take(this.chosen);
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      this.submit();
    } else return;
    event.preventDefault();
  }

  // A command that is typed in full is sent by Enter at once.
  complete(key) {
    return key === "Enter" && this.field.value.slice(1) === this.offered[this.chosen].name;
  }

  changed() {
    this.memory.draft = this.field.value;
    this.grow();
    const typed = /^\/(\S*)$/.exec(this.field.value);
    const start = typed && !this.closed ? typed[1].toLowerCase() : null;
    this.offer(start === null ? [] : this.commands.filter((command) => command.name.startsWith(start)));
  }

  grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
  }

  offer(commands) {
    this.offered = commands;
    this.list.hidden = !commands.length;
    this.list.replaceChildren(
      ...commands.map(({ name, rest, about }, index) => {
        const option = document.createElement("li");
        option.id = `hint-${index}`;
        option.setAttribute("role", "option");
        const word = document.createElement("b");
        word.textContent = `/${name}`;
        const tail = document.createElement("i");
        tail.textContent = rest;
        const says = document.createElement("span");
        says.textContent = about;
        option.append(word, tail, says);
        return option;
      }),
    );
    if (commands.length) this.choose(0);
    else this.field.removeAttribute("aria-activedescendant");
  }

  choose(index) {
    this.chosen = index;
    for (const [at, option] of [...this.list.children].entries()) {
      option.setAttribute("aria-selected", String(at === index));
      if (at === index) option.scrollIntoView({ block: "nearest" });
    }
    this.field.setAttribute("aria-activedescendant", `hint-${index}`);
  }

  take(index) {
    const { name, rest } = this.offered[index];
    this.write(rest ? `/${name} ` : `/${name}`);
  }
}
