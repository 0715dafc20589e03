// What this browser keeps of a chat: messages that may not be on the tape yet, and the words not yet sent.

export class Memory {
  constructor(chat) {
    this.pendingKey = `gateway:${chat}:pending`;
    this.draftKey = `gateway:${chat}:draft`;
  }

  // [{id, text, date, refused?}], oldest first.
  get pending() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.pendingKey) ?? "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  }

  set pending(messages) {
    try {
      localStorage.setItem(this.pendingKey, JSON.stringify(messages));
    } catch {
      // Storage is full or forbidden: the messages live as long as this page does.
    }
  }

  get draft() {
    try {
      return localStorage.getItem(this.draftKey) ?? "";
    } catch {
      return "";
    }
  }

  set draft(text) {
    try {
      if (text) localStorage.setItem(this.draftKey, text);
      else localStorage.removeItem(this.draftKey);
    } catch {
      // As above.
    }
  }

  // Another tab of the same chat wrote.
  onChange(callback) {
    addEventListener("storage", (event) => {
      if (event.key === this.pendingKey) callback();
    });
  }
}
