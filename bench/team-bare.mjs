// What a team server is measured against: hono and pg, one transaction with an upsert per request. team-bare.mjs DATABASE-URL
import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
await pool.query("create table if not exists bare (id text primary key, count int not null)");
const app = new Hono();
app.post("/:id", async (c) => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query(
      "insert into bare as b values ($1, 1) on conflict (id) do update set count = b.count + 1 returning count",
      [c.req.param("id")],
    );
    await client.query("commit");
    return c.json(rows[0]);
  } finally {
    client.release();
  }
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
