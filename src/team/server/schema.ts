/** The tables of the team server. Every table with a team has row-level security, so that a query that forgets the team finds nothing of another. */

export interface Migration {
  name: string;
  /** One statement each: the embedded database takes no more at once. */
  statements: string[];
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
      // One row for each token, so it never grows; unlogged, as losing it in a crash restarts one window.
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
];

/** Applied where the extension is there, now or at a later start. */
export const OPTIONAL: readonly Migration[] = [
  {
    name: "vectors",
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

function bind(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (team = current_setting('memdir.team', true)) with check (team = current_setting('memdir.team', true))`,
  ];
}

/**
 * Looks terms up and weighs them. Behind row-level security Postgres does not use an index for `@@`, as the operator could
 * reveal rows that must stay hidden; so this runs with the rights of the tables' owner and carries the rule of the tenant itself.
 *
 * Candidates come from memories with all terms, and from those with the rarest ones until there are a thousand; of a term in
 * more than 2,000 memories these many are looked at, as it says little. Every term counts for a candidate's score, the rarer the
 * more; name and description weigh about as much more than the body as they do in our own recall.
 *
 * `|| ''` keeps Postgres from reading the whole primary key of the team beside the index of terms, which took half of the time.
 */
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
