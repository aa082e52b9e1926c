/** Requests by hand, byte for byte: fetch would tidy paths, lengths and headers before they are sent. */

import http from "node:http";
import net from "node:net";
import type { Told } from "./desk.ts";

export interface RawRequest {
  method: string;
  /** As it is sent. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export function askRaw(port: number, { method, path, headers = {}, body }: RawRequest): Promise<Told> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: "127.0.0.1", port, method, path, headers: { "memdir-protocol": "1", ...headers }, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => {
          text += part;
        });
        response.on("error", reject);
        response.on("end", () => {
          const isJson = response.headers["content-type"]?.startsWith("application/json");
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(response.headers as Record<string, string>),
            text,
            body: isJson && text !== "" ? JSON.parse(text) : null,
          });
        });
      },
    );
    // The server may close before everything is sent; what it said counts.
    request.on("error", reject);
    request.end(body);
  });
}

/** What comes back on a connection until the other side closes it. `send` writes as it likes. */
export function talk(port: number, send: (socket: net.Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    let heard = "";
    socket.setEncoding("utf8").on("data", (part) => {
      heard += part;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(heard));
    send(socket);
  });
}
