// A connection to a language server: JSON-RPC over the standard streams of a process.
"use strict";

const { spawn } = require("child_process");

class Connection {
  constructor(command, onNotification, onExit) {
    this.onNotification = onNotification;
    this.waiting = new Map();
    this.nextId = 1;
    this.buffer = Buffer.alloc(0);
    this.process = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    this.errors = "";
    this.process.stdout.on("data", (data) => this.receive(data));
    this.process.stderr.on("data", (data) => {
      this.errors = (this.errors + data).slice(-4000);
    });
    const end = (reason) => {
      for (const { reject } of this.waiting.values()) reject(new Error(reason));
      this.waiting.clear();
      onExit(reason);
    };
    this.process.on("error", (error) => end(error.message));
    this.process.on("exit", (code) => end(`exit code ${code}\n${this.errors}`));
    this.process.stdin.on("error", () => {});
  }

  receive(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const header = /Content-Length: *(\d+)/i.exec(this.buffer.toString("ascii", 0, end));
      const length = header ? Number(header[1]) : 0;
      if (this.buffer.length < end + 4 + length) return;
      const body = this.buffer.toString("utf8", end + 4, end + 4 + length);
      this.buffer = this.buffer.subarray(end + 4 + length);
      if (length) this.dispatch(JSON.parse(body));
    }
  }

  dispatch(message) {
    if (message.method !== undefined) {
      // Requests of the server have an id; none needs more than an empty answer.
      if (message.id !== undefined) this.send({ id: message.id, result: null });
      else this.onNotification(message.method, message.params);
      return;
    }
    const request = this.waiting.get(message.id);
    if (!request) return;
    this.waiting.delete(message.id);
    if (message.error) request.reject(new Error(message.error.message));
    else request.resolve(message.result);
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }
}

module.exports = { Connection };
