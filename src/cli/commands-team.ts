/** The commands for memory that is shared. */

import type { Command } from "./command.ts";

export const TEAM_COMMANDS: readonly Command[] = [
  {
    name: "promote",
    usage: "NAME",
    summary: "moves a private memory to the team's, after showing it and where it goes",
    options: {
      "dry-run": { help: "only show what would move" },
      yes: { short: "y", help: "do not ask" },
    },
    arguments: { min: 1, max: 1 },
    example: 'memdir promote "release day"',
  },
  {
    name: "demote",
    usage: "NAME",
    summary: "takes a memory out of the team's and keeps it as a private one",
    options: {
      "dry-run": { help: "only show what would move" },
      yes: { short: "y", help: "do not ask" },
    },
    arguments: { min: 1, max: 1 },
    example: 'memdir demote "release day"',
  },
  {
    name: "sync",
    usage: "",
    summary: "exchanges the team's memories with its server, or your own with your other machines through git",
    options: {
      watch: { help: "go on while you work: soon after a change here, every 15 seconds for changes there" },
      git: {
        value: "REMOTE",
        help: "your own memories of this project and of you, through a branch of any git remote",
      },
      branch: { value: "NAME", help: "with --git: the branch they lie on (default: memdir)" },
      "dry-run": { help: "only say what would happen" },
      deadline: { value: "SECONDS", help: "end by itself after so long; the next one goes on" },
      "while-stdin": { help: "with --watch: end when standard input is closed" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir sync --watch",
  },
  {
    name: "join",
    usage: "[URL]",
    summary: "shares memories of this project through a team's server; the token comes from a file or standard input",
    options: {
      "token-file": { value: "FILE", help: "the token that an admin of the team gave you" },
      create: { help: "make the repository on the server if it is missing; for admins" },
      leave: { help: "end it; what was shared stays on the disk" },
    },
    arguments: { min: 0, max: 1 },
    example: "memdir join https://memory.example/acme/app --token-file token",
  },
  {
    name: "team",
    usage: "[add|role|token|tokens|revoke|repository|search|audit|versions|redact …]",
    summary: "who shares memories here and what waits for a person; for admins: people, tokens, the audit log",
    options: {
      role: { value: "ROLE", help: "reader, writer or admin; none takes it away" },
      repository: { value: "NAME", help: "the role counts in this repository only; redact: in this one" },
      "token-file": { value: "FILE", help: "token: where it is written; a token is never shown" },
      days: { value: "N", help: "token: how long it is good (default: until it is revoked)" },
      label: { value: "TEXT", help: "token: what it is for" },
      limit: { value: "N", help: "search, audit: at most this many" },
      before: { value: "TIME", help: "audit: only what is older" },
    },
    arguments: { min: 0, max: 64 },
    example: "memdir team token bob --token-file bob-token",
  },
  {
    name: "serve",
    usage: "",
    summary: "the team server: shared memories over HTTP, kept in a folder or in PostgreSQL",
    options: {
      port: { value: "N", help: "the port (default: 7373; 0 is any that is free)" },
      host: { value: "H", help: "the address (default: 127.0.0.1); any other needs TLS" },
      data: { value: "DIR", help: "database, its program and token files (default: ~/.memdir-server)" },
      database: { value: "URL", help: "postgres://… instead of the embedded database (or MEMDIR_DATABASE_URL)" },
      team: { value: "NAME", help: "the team; made if it is not there (default: default)" },
      admin: { value: "NAME", help: "the first admin of a new team (default: your user name)" },
      "tls-cert": { value: "FILE", help: "certificate, with --tls-key" },
      "tls-key": { value: "FILE", help: "its key" },
      "behind-tls": { help: "a proxy in front does TLS, and nothing else reaches the port" },
      log: { value: "FILE", help: "one JSON line per request (default: standard error)" },
      yes: { help: "fetch the embedded database from npm without asking" },
      "issue-token": { value: "PERSON", help: "only make a token for somebody; an embedded server must be stopped" },
      "token-file": { value: "FILE", help: "where --issue-token writes it" },
    },
    arguments: { min: 0, max: 0 },
    example: "memdir serve --help",
  },
  {
    name: "merge-driver",
    usage: "memory|index BASE OURS THEIRS PATH",
    summary: "git calls it to merge team memories (memdir init --team sets it up)",
    options: {},
    arguments: { min: 5, max: 5 },
    example: "memdir merge-driver memory %O %A %B %P",
  },
];
