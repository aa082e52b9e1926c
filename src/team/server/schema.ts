/** The tables of the team server. Every table with a team has row-level security, so that a query that forgets the team finds nothing of another. */

import { DROP_TOMBSTONES, DROP_VERSIONS, ENTER, FIND, FOLLOW, LIST, OPAQUE, STAMP, WRITE } from "./functions.ts";

export interface Migration {
  name: string;
  /** One statement each: the embedded database takes no more at once. */
  statements: string[];
  /** Servers that do not know it must not run on this database. */
  breaking?: boolean;
  /** Applied where the extension for vectors is there, now or at a later start. */
  needsVectors?: boolean;
}

export const TENANT_TABLES = [
  "memdir_team",
  "memdir_person",
  "memdir_repository",
  "memdir_right",
  "memdir_token",
  "memdir_memory",
  "memdir_version",
  "memdir_search",
  "memdir_audit",
  "memdir_rate",
] as const;

/** Of a memory: the key of its row. */
const PLACE = 'team text collate "C" not null, repository text collate "C" not null, path text collate "C" not null';

/** As MiniLM gives them. */
export const VECTOR_WIDTH = 384;

/** Applied in this order, each once. A name that has been released stays as it is; a change is a new one at the end. */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: "2026-11-team",
    statements: [
      "create table memdir_team (team text collate \"C\" primary key check (team <> ''), created timestamptz not null)",
      `create table memdir_person (
        team text collate "C" not null references memdir_team,
        id text not null,
        name text not null,
        role text check (role in ('reader', 'writer', 'admin')),
        primary key (team, id))`,
      "create unique index memdir_person_name on memdir_person (team, lower(name))",
      // The id distinguishes a repository from one of the same name in another database: what clients noted about that does not count here.
      `create table memdir_repository (
        team text collate "C" not null references memdir_team,
        name text collate "C" not null,
        id text not null,
        state bigint not null default 0,
        memories int not null default 0,
        bytes bigint not null default 0,
        primary key (team, name))`,
      `create table memdir_right (
        team text collate "C" not null,
        person_id text not null,
        repository text collate "C" not null,
        role text not null check (role in ('reader', 'writer', 'admin')),
        primary key (team, person_id, repository),
        foreign key (team, person_id) references memdir_person,
        foreign key (team, repository) references memdir_repository)`,
      `create table memdir_token (
        team text collate "C" not null,
        id text not null,
        person_id text not null,
        label text not null,
        hash text collate "C" not null,
        created timestamptz not null,
        expires timestamptz,
        revoked timestamptz,
        last_used timestamptz,
        primary key (team, id),
        unique (team, hash),
        foreign key (team, person_id) references memdir_person)`,
      // What is now; the text is in the version of this revision. A tombstone stays, so that revisions only ever grow.
      `create table memdir_memory (
        ${PLACE},
        folded text collate "C" not null,
        revision bigint not null,
        hash text not null,
        deleted boolean not null,
        bytes int not null,
        author text not null,
        at timestamptz not null,
        name text not null,
        description text not null,
        primary key (team, repository, path),
        foreign key (team, repository) references memdir_repository)`,
      "create unique index memdir_memory_folded on memdir_memory (team, repository, folded) where not deleted",
      `create table memdir_version (
        ${PLACE},
        revision bigint not null,
        hash text not null,
        deleted boolean not null,
        redacted boolean not null default false,
        author text not null,
        at timestamptz not null,
        text text,
        primary key (team, repository, path, revision),
        foreign key (team, repository, path) references memdir_memory)`,
      // Apart and narrow, as a search looks at many rows. Each lexeme begins with its team: the index is as good for a small team as for a large one.
      `create table memdir_search (
        ${PLACE},
        terms tsvector not null,
        primary key (team, repository, path),
        foreign key (team, repository, path) references memdir_memory)`,
      "create index memdir_search_terms on memdir_search using gin (terms)",
      `create table memdir_audit (
        team text collate "C" not null references memdir_team,
        id bigint generated always as identity,
        at timestamptz not null,
        person text not null,
        token_id text not null,
        action text not null,
        repository text,
        path text,
        revision text,
        outcome text not null,
        primary key (team, id))`,
      "create index memdir_audit_at on memdir_audit (team, at)",
      // Used by 0.1 only, which counted requests here. It goes when no 0.1 has to run beside us.
      `create unlogged table memdir_rate (
        team text collate "C" not null,
        token_id text not null,
        since bigint not null,
        requests int not null,
        primary key (team, token_id)) with (fillfactor = 50)`,
      ...TENANT_TABLES.flatMap(bind),
      // The operator counts and names teams, and sees nothing else.
      "create policy operator on memdir_team for select using (current_setting('memdir.operator', true) = 'on')",
      "create policy operator on memdir_repository for select using (current_setting('memdir.operator', true) = 'on')",
      // What the function calls by name is looked for where it was made, and a temporary table of that name is not taken for it.
      "select set_config('memdir.path', current_setting('search_path'), true), set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)",
      find(),
      "select set_config('search_path', current_setting('memdir.path'), true)",
      "revoke execute on function memdir_find(text[], text[], int) from public",
    ],
  },
  {
    name: "vectors",
    needsVectors: true,
    statements: [
      // Goes with its row in memdir_search, even where a later start lacks the extension.
      `create table memdir_vector (
        ${PLACE},
        vector vector(${VECTOR_WIDTH}) not null,
        primary key (team, repository, path),
        foreign key (team, repository, path) references memdir_search on delete cascade)`,
      ...bind("memdir_vector"),
    ],
  },
];

/** What "2026-11-operations" counts and copies, of all teams. */
const COUNTED = ["memdir_search", "memdir_memory", "memdir_repository", "memdir_version"];

/**
 * Migrations since 0.1, kept in a table of their own (`memdir_schema`): 0.1 refuses a database with a migration that it does not
 * know, and it has to run beside this version while servers are replaced one by one. Every one of these only adds. One that older
 * servers cannot live with says `breaking`.
 */
export const ADDITIONS: readonly Migration[] = [
  {
    name: "2026-11-operations",
    statements: [
      // Removed people keep their name in the history and can do nothing; `subject` is who they are at the identity provider.
      "alter table memdir_person add column removed timestamptz, add column subject text",
      "create unique index memdir_person_subject on memdir_person (team, subject)",
      // `history`: bytes of all versions. `floor`: the highest revision of a tombstone that was dropped, so that revisions only grow.
      `alter table memdir_repository add column history bigint not null default 0,
        add column tombstones int not null default 0, add column floor bigint not null default 0`,
      // `changed`: the repository's state after the write, for lists of what is new. `kept`: bytes of all its versions.
      `alter table memdir_memory add column id bigint generated by default as identity,
        add column changed bigint not null default 0, add column kept bigint not null default 0`,
      "create unique index memdir_memory_id on memdir_memory (id)",
      "create index memdir_memory_changed on memdir_memory (team, repository, changed)",
      "create index memdir_memory_tombstone on memdir_memory (team, repository, at) where deleted",
      "alter table memdir_version add column bytes int not null default 0, add column changed bigint not null default 0",
      "create index memdir_version_changed on memdir_version (team, repository, changed)",
      /*
       * What search looks through. Behind row-level security Postgres uses no index for `@@`, which is not leakproof, so this table
       * has none; instead nothing in it can be read: words are hashes that depend on the team, and what they lead to are numbers,
       * which only a transaction of the team can turn into memories. Every owner of the tables gets the same plan.
       */
      `create table memdir_words (
        memory bigint primary key,
        repository_id text collate "C" not null,
        terms tsvector not null)`,
      "create index memdir_words_terms on memdir_words using gin (terms)",
      // Checking it would lock the team's one row in every write; whoever writes to the log has found the team already.
      "alter table memdir_audit drop constraint memdir_audit_team_fkey",
      OPAQUE,
      // The owner sees every team's rows for the length of this transaction.
      ...COUNTED.map((table) => `alter table ${table} no force row level security`),
      "update memdir_version set bytes = coalesce(octet_length(text), 0)",
      `update memdir_memory m set kept = v.bytes, changed = r.state from memdir_repository r,
         (select team, repository, path, sum(bytes) as bytes from memdir_version group by 1, 2, 3) v
       where (v.team, v.repository, v.path) = (m.team, m.repository, m.path) and r.team = m.team and r.name = m.repository`,
      `update memdir_repository r set history = m.kept, tombstones = m.tombstones from
         (select team, repository, sum(kept) as kept, count(*) filter (where deleted) as tombstones from memdir_memory group by 1, 2) m
       where m.team = r.team and m.repository = r.name`,
      `insert into memdir_words (memory, repository_id, terms) select m.id, r.id, memdir_opaque(s.terms)
       from memdir_search s join memdir_memory m using (team, repository, path)
       join memdir_repository r on r.team = s.team and r.name = s.repository`,
      ...COUNTED.map((table) => `alter table ${table} force row level security`),
      ...STAMP,
      ...FOLLOW,
      LIST,
      ENTER,
      DROP_TOMBSTONES,
      DROP_VERSIONS,
      WRITE,
      FIND,
    ],
  },
  {
    name: "vectors-without-search",
    needsVectors: true,
    statements: ["alter table memdir_vector drop constraint if exists memdir_vector_team_repository_path_fkey"],
  },
];

function bind(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (team = current_setting('memdir.team', true)) with check (team = current_setting('memdir.team', true))`,
  ];
}

/** As 0.1 searches; `memdir_search_words` in functions.ts is its successor. */
function find(): string {
  const own = "s.team || '' = current_setting('memdir.team', true)";
  const visible = `${own} and s.repository || '' = any(repositories)`;
  return `create function memdir_find(lexemes text[], repositories text[], most int)
    returns table (repository text, path text, score double precision)
    language sql stable security definer set search_path from current as $$
      with counted as materialized (
        select t.lexeme, t.lexeme::tsquery as query, t.place,
          (select count(*) from (select from memdir_search s where ${own} and s.terms @@ t.lexeme::tsquery limit 2000) few) as found
        from unnest(lexemes) with ordinality as t (lexeme, place)
      ), term as materialized (
        select c.lexeme, c.query, sum(c.found) over (order by c.found, c.place) - c.found as before,
          ln(1 + (select sum(s.memories) from memdir_repository s where ${own})::float8 / c.found) as weight
        from counted c where c.found > 0
      ), candidate as materialized (
        select few.ctid as place from (select s.ctid from memdir_search s
          where ${visible} and s.terms @@ (select string_agg(lexeme, ' & ')::tsquery from term) limit 1000) few
        union
        select few.ctid from term cross join lateral (select s.ctid from memdir_search s
          where ${visible} and s.terms @@ term.query limit 2000) few
        where term.before < 1000
      )
      select s.repository, s.path, (select sum(term.weight * ts_rank('{0.4, 0.5, 0.7, 1}', s.terms, term.query, 1)) from term) as score
      from candidate join memdir_search s on s.ctid = candidate.place
      order by 3 desc, 1, 2 limit most
    $$`;
}
