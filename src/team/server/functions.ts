/** What runs inside the database, because one round trip is less than ten: who asks, a write, a search; and what keeps 0.1 in step. */

/** Words of a tsvector as hashes, with their positions and weights. `opaque` in data-search.ts makes the same of a word. */
export const OPAQUE = `create function memdir_opaque(terms tsvector) returns tsvector language sql immutable as $$
  select coalesce(string_agg(encode(substring(sha256(convert_to(lexeme, 'UTF8')) from 1 for 8), 'hex')
    || coalesce(':' || (select string_agg(place || weight, ',') from unnest(positions, weights) as p (place, weight)), ''), ' '), '')::tsvector
  from unnest(terms)
$$`;

/** 0.1 knows no `changed`: what it writes gets the state that it is about to give to the repository, whose row it holds. */
export const STAMP = [
  `create function memdir_stamp() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' and new.changed = 0 or tg_op = 'UPDATE' and new.changed = old.changed and new.revision <> old.revision then
        new.changed := (select r.state + 1 from memdir_repository r where r.team = new.team and r.name = new.repository);
      end if;
      return new;
    end
  $$`,
  "create trigger memdir_stamp before insert or update on memdir_memory for each row execute function memdir_stamp()",
];

/** What 0.1 writes for its own search is searched here, too; what it drops is dropped. */
export const FOLLOW = [
  `create function memdir_follow() returns trigger language plpgsql as $$
    declare place record;
    begin
      if tg_op = 'DELETE' then place := old; else place := new; end if;
      delete from memdir_words w using memdir_memory m
        where m.team = place.team and m.repository = place.repository and m.path = place.path and w.memory = m.id;
      if tg_op = 'INSERT' then
        insert into memdir_words (memory, repository_id, terms)
          select m.id, r.id, memdir_opaque(place.terms) from memdir_memory m join memdir_repository r on r.team = m.team and r.name = m.repository
          where m.team = place.team and m.repository = place.repository and m.path = place.path;
      elsif to_regclass('memdir_vector') is not null then
        execute 'delete from memdir_vector where team = $1 and repository = $2 and path = $3' using place.team, place.repository, place.path;
      end if;
      return null;
    end
  $$`,
  "create trigger memdir_follow after insert or delete on memdir_search for each row execute function memdir_follow()",
];

/** The tenant of whatever a function reads or writes: it ends with the transaction, which is the one statement that calls it. */
const TENANT = "perform set_config('memdir.team', asked_team, true), set_config('memdir.operator', 'off', true);";

/**
 * Whose token it is, their roles, and the state of the repository that they ask about; with `asked_since`, also what changed since
 * that state. No row where the token is not valid. Writes nothing.
 */
export const ENTER = `create function memdir_enter(asked_team text, asked_hash text, asked_repository text, at_time timestamptz, asked_since text)
  returns table (token_id text, person_id text, person text, team_role text, own_role text, id text, state text, since text, entries json)
  language plpgsql as $$
    begin
      ${TENANT}
      select t.id, p.id, p.name, p.role, x.role, r.id, r.id || '-' || r.state into token_id, person_id, person, team_role, own_role, id, state
        from memdir_token t join memdir_person p on p.team = t.team and p.id = t.person_id
        left join memdir_repository r on r.team = t.team and r.name = asked_repository
        left join memdir_right x on x.team = t.team and x.person_id = p.id and x.repository = r.name
        where t.team = asked_team and t.hash = asked_hash and t.revoked is null and p.removed is null
          and (t.expires is null or t.expires > at_time);
      if not found then return; end if;
      if asked_since <> state then
        select l.state, l.since, l.entries into state, since, entries from memdir_list(asked_team, person_id, asked_repository, asked_since) l;
      end if;
      return next;
    end
  $$`;

/**
 * The entries of a repository as JSON, no row for who may not read it. With an `asked_since` that is an earlier state of this
 * repository, only what changed after it. A state whose write is not in the history any more counts as unknown: a database that was
 * restored from a backup does not know the states that it had afterwards.
 */
export const LIST = `create function memdir_list(asked_team text, asked_person text, asked_repository text, asked_since text)
  returns table (id text, state text, since text, entries json) language plpgsql as $$
    declare
      from_state bigint;
      -- The state first: a write in between makes the list newer than its state, which costs one more list and loses nothing.
      last_state bigint;
    begin
      ${TENANT}
      select r.id, r.state into id, last_state from memdir_repository r
        join memdir_person p on p.team = r.team and p.id = asked_person and p.removed is null
        left join memdir_right x on x.team = r.team and x.person_id = p.id and x.repository = r.name
        where r.team = asked_team and r.name = asked_repository and coalesce(p.role, x.role) is not null;
      if not found then return; end if;
      if starts_with(asked_since, id || '-') and substr(asked_since, length(id) + 2) ~ '^[0-9]{1,18}$' then
        from_state := substr(asked_since, length(id) + 2)::bigint;
        if from_state = last_state or from_state > 0 and exists (select from memdir_version v
            where v.team = asked_team and v.repository = asked_repository and v.changed = from_state) then
          since := asked_since;
        end if;
      end if;
      state := id || '-' || last_state;
      select coalesce(json_agg(json_build_object('path', m.path, 'revision', m.revision::text, 'hash', m.hash, 'deleted', m.deleted,
          'author', m.author, 'at', to_char(m.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by m.path), '[]')
        into entries from memdir_memory m where m.team = asked_team and m.repository = asked_repository
          and m.changed > case when since is null then -1 else from_state end;
      return next;
    end
  $$`;

/**
 * One write: token, rights, precondition, names, quotas, version, search, audit. `new_text` null removes. The repository's row is
 * locked first, whatever follows: a statement may hold several writes of one repository, and none waits for another crosswise.
 *
 * The history is bounded: of one memory by number and bytes, of a repository by bytes and by the number of tombstones. What is over
 * goes from its old end; the current text and the newest versions stay.
 */
export const WRITE = `create function memdir_write(asked jsonb, new_text text, new_terms text, new_vector text)
  returns jsonb language plpgsql as $$
    declare
      asked_team constant text := asked->>'team';
      asked_repository constant text := asked->>'repository';
      asked_path constant text := asked->>'path';
      asked_folded constant text := asked->>'folded';
      expected constant text := asked->>'expected';
      at_time constant timestamptz := (asked->>'at')::timestamptz;
      is_removal constant boolean := new_text is null;
      new_bytes constant int := coalesce(octet_length(new_text), 0);
      role_in text[];
      repo memdir_repository;
      memory memdir_memory;
      is_there boolean;
      is_known boolean;
      is_based boolean;
      other text;
      revision_to bigint;
      outcome jsonb;
    begin
      ${TENANT}
      perform set_config('lock_timeout', '5s', true);
      select array[p.role, x.role] into role_in from memdir_repository r
        join memdir_token t on t.team = r.team and t.id = asked->>'token_id' and t.revoked is null and (t.expires is null or t.expires > at_time)
        join memdir_person p on p.team = r.team and p.id = t.person_id and p.removed is null
        left join memdir_right x on x.team = p.team and x.person_id = p.id and x.repository = r.name
        where r.team = asked_team and r.name = asked_repository;
      if role_in is null or role_in = array[null, null]::text[] then
        return jsonb_build_object('kind', 'missing');
      elsif not (role_in && array['writer', 'admin']) then
        return jsonb_build_object('kind', 'refused', 'reason', 'role');
      end if;

      select * into repo from memdir_repository r where r.team = asked_team and r.name = asked_repository for no key update;
      select * into memory from memdir_memory m where m.team = asked_team and m.repository = asked_repository and m.path = asked_path;
      is_known := found;
      is_there := is_known and not memory.deleted;
      is_based := case when expected is null then not is_there else is_known and memory.revision::text = expected end;
      if is_removal and not is_there or not is_removal and is_there and memory.hash = asked->>'hash' then
        outcome := jsonb_build_object('kind', 'done', 'revision', coalesce(memory.revision, 0)::text);
      elsif not is_based then
        outcome := jsonb_build_object('kind', 'stale', 'current', case when is_known then jsonb_build_object(
          'path', memory.path, 'hash', memory.hash, 'revision', memory.revision::text, 'deleted', memory.deleted, 'author', memory.author,
          'at', to_char(memory.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end);
      end if;

      if outcome is null and not is_there then
        -- Another spelling of the name or a file where this needs a folder; then everything below a folder of this name; then
        -- another spelling of a folder. "0" is the character after "/".
        select m.path into other from memdir_memory m
          where m.team = asked_team and m.repository = asked_repository and not m.deleted and m.path <> asked_path
            and (m.folded in (select jsonb_array_elements_text(asked->'above')) or m.folded >= asked_folded || '/' and m.folded < asked_folded || '0')
          limit 1;
        if other is null then
          select m.path into other from jsonb_to_recordset(asked->'folders') as f (spelling text, folded text)
            cross join lateral (select o.path from memdir_memory o
              where o.team = asked_team and o.repository = asked_repository and not o.deleted
                and o.folded >= f.folded || '/' and o.folded < f.folded || '0' and not starts_with(o.path, f.spelling || '/') limit 1) m
            limit 1;
        end if;
        if other is not null then
          outcome := jsonb_build_object('kind', 'refused', 'reason', 'name', 'other', other);
        end if;
      end if;

      if outcome is null then
        -- Never the same number twice, not even in a database that was restored from a backup: its clock has gone on.
        update memdir_repository r set state = greatest(r.state + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint),
            memories = r.memories + case when is_removal then -1 when is_there then 0 else 1 end,
            tombstones = r.tombstones + case when is_removal then 1 when is_known and not is_there then -1 else 0 end,
            bytes = r.bytes + new_bytes - coalesce(memory.bytes, 0), history = r.history + new_bytes
          where r.team = asked_team and r.name = asked_repository
            and (is_removal or is_there or r.memories < (asked->>'repositoryMemories')::bigint)
            and (new_bytes <= coalesce(memory.bytes, 0) or r.bytes + new_bytes - coalesce(memory.bytes, 0) <= (asked->>'repositoryBytes')::bigint)
          returning r.* into repo;
        if not found then
          select * into repo from memdir_repository r where r.team = asked_team and r.name = asked_repository;
          outcome := jsonb_build_object('kind', 'refused', 'reason', 'full', 'memories', repo.memories, 'bytes', repo.bytes);
        end if;
      end if;

      if outcome is null then
        revision_to := coalesce(memory.revision, repo.floor) + 1;
        insert into memdir_memory as m (team, repository, path, folded, revision, hash, deleted, bytes, author, at, name, description, changed, kept)
          values (asked_team, asked_repository, asked_path, asked_folded, revision_to, asked->>'hash', is_removal, new_bytes,
            asked->>'person', at_time, asked->>'name', asked->>'description', repo.state, new_bytes)
          on conflict (team, repository, path) do update set folded = excluded.folded, revision = excluded.revision, hash = excluded.hash,
            deleted = excluded.deleted, bytes = excluded.bytes, author = excluded.author, at = excluded.at, name = excluded.name,
            description = excluded.description, changed = excluded.changed, kept = m.kept + excluded.kept
          returning m.* into memory;
        insert into memdir_version (team, repository, path, author, at, revision, hash, deleted, text, bytes, changed)
          values (asked_team, asked_repository, asked_path, asked->>'person', at_time, revision_to, asked->>'hash', is_removal, new_text, new_bytes,
            repo.state);
        -- A row of 0.1 takes what follows it along.
        delete from memdir_search s where s.team = asked_team and s.repository = asked_repository and s.path = asked_path;
        if is_removal then
          delete from memdir_words w where w.memory = memory.id;
        else
          insert into memdir_words (memory, repository_id, terms) values (memory.id, repo.id, new_terms::tsvector)
            on conflict on constraint memdir_words_pkey do update set terms = excluded.terms;
        end if;
        -- Also where vectors cannot be compared now: an old one must not outlive its text.
        if to_regclass('memdir_vector') is not null then
          execute 'delete from memdir_vector where team = $1 and repository = $2 and path = $3' using asked_team, asked_repository, asked_path;
        end if;
        if new_vector is not null then
          execute 'insert into memdir_vector (team, repository, path, vector) values ($1, $2, $3, $4::vector)'
            using asked_team, asked_repository, asked_path, new_vector;
        end if;

        if memory.kept > (asked->>'memoryHistoryBytes')::bigint or memory.revision > (asked->>'memoryVersions')::bigint then
          perform memdir_drop_versions(asked_team, array_agg(asked_repository), array_agg(asked_path), array_agg(v.revision))
            from (select d.revision, row_number() over newest as place, sum(d.bytes) over newest as size
              from memdir_version d where d.team = asked_team and d.repository = asked_repository and d.path = asked_path
              window newest as (order by d.revision desc)) v
            where v.place > (asked->>'memoryVersions')::bigint or v.place > 1 and v.size > (asked->>'memoryHistoryBytes')::bigint;
        end if;
        if repo.history > (asked->>'repositoryHistoryBytes')::bigint then
          -- A few with every write: it can never outrun this, as a write adds one.
          perform memdir_drop_versions(asked_team, array_agg(asked_repository), array_agg(few.path), array_agg(few.revision))
            from (select o.path, o.revision, sum(o.bytes) over (order by o.changed, o.path, o.revision) - o.bytes as freed from (
              select v.path, v.revision, v.bytes, v.changed from memdir_version v join memdir_memory m using (team, repository, path)
                where v.team = asked_team and v.repository = asked_repository and v.revision < m.revision order by v.changed limit 20) o) few
            where few.freed < repo.history - (asked->>'repositoryHistoryBytes')::bigint;
        end if;
        if repo.tombstones > (asked->>'repositoryTombstones')::bigint then
          perform memdir_drop_tombstones(asked_team, asked_repository, at_time, 20);
        end if;
        outcome := jsonb_build_object('kind', 'done', 'revision', revision_to::text);
      end if;

      insert into memdir_audit (team, at, person, token_id, action, repository, path, revision, outcome) values (asked_team, at_time,
        asked->>'person', asked->>'token_id', case when is_removal then 'remove' else 'write' end, asked_repository, asked_path,
        case when outcome->>'kind' = 'done' then outcome->>'revision' end, outcome->>'kind');
      return outcome;
    end
  $$`;

/** These versions, and their bytes in the accounts of their memories and repositories. How many went. */
export const DROP_VERSIONS = `create function memdir_drop_versions(asked_team text, repositories text[], paths text[], revisions bigint[])
  returns int language sql as $$
    with gone as (
      delete from memdir_version v using unnest(repositories, paths, revisions) as old (repository, path, revision)
        where v.team = asked_team and v.repository = old.repository and v.path = old.path and v.revision = old.revision
        returning v.repository, v.path, v.bytes
    ), memory as (
      update memdir_memory m set kept = m.kept - g.bytes from (select repository, path, sum(bytes) as bytes from gone group by 1, 2) g
        where m.team = asked_team and m.repository = g.repository and m.path = g.path
    ), repository as (
      update memdir_repository r set history = r.history - g.bytes from (select repository, sum(bytes) as bytes from gone group by 1) g
        where r.team = asked_team and r.name = g.repository
    ) select count(*)::int from gone
  $$`;

/** The oldest tombstones with their versions, at most `most` of those older than `before`. How many went. */
export const DROP_TOMBSTONES = `create function memdir_drop_tombstones(asked_team text, asked_repository text, before timestamptz, most int)
  returns int language plpgsql as $$
    declare places text[]; highest bigint; freed bigint;
    begin
      -- As every write does, so that none waits for this one crosswise.
      perform from memdir_repository r where r.team = asked_team and r.name = asked_repository for no key update;
      select array_agg(o.path), max(o.revision), sum(o.kept) into places, highest, freed from (
        select m.path, m.revision, m.kept from memdir_memory m
          where m.team = asked_team and m.repository = asked_repository and m.deleted and m.at < before
          order by m.at limit most) o;
      if places is null then return 0; end if;
      delete from memdir_version v where v.team = asked_team and v.repository = asked_repository and v.path = any(places);
      delete from memdir_memory m where m.team = asked_team and m.repository = asked_repository and m.path = any(places);
      update memdir_repository r set tombstones = r.tombstones - cardinality(places), history = r.history - freed, floor = greatest(r.floor, highest)
        where r.team = asked_team and r.name = asked_repository;
      return cardinality(places);
    end
  $$`;

/**
 * Looks words up and weighs them; both sides are hashes (see `memdir_words` in schema.ts).
 *
 * Candidates come from memories with all words, and from those with the rarest ones until there are a thousand; of a word in more
 * than 2,000 memories these many are looked at, as it says little. Every word counts for a candidate's score, the rarer the more;
 * name and description weigh about as much more than the body as they do in our own recall.
 */
export const FIND = `create function memdir_search_words(words text[], repositories text[], memories float8, most int)
  returns table (memory bigint, score float8) language sql stable as $$
    with counted as materialized (
      select t.word, t.word::tsquery as query, t.place,
        (select count(*) from (select from memdir_words s where s.terms @@ t.word::tsquery limit 2000) few) as found
      from unnest(words) with ordinality as t (word, place)
    ), term as materialized (
      select c.word, c.query, sum(c.found) over (order by c.found, c.place) - c.found as before, ln(1 + memories / c.found) as weight
      from counted c where c.found > 0
    ), candidate as materialized (
      select few.memory from (select s.memory from memdir_words s
        where s.repository_id = any(repositories) and s.terms @@ (select string_agg(word, ' & ')::tsquery from term) limit 1000) few
      union
      select few.memory from term cross join lateral (select s.memory from memdir_words s
        where s.repository_id = any(repositories) and s.terms @@ term.query limit 2000) few
      where term.before < 1000
    )
    select s.memory, (select sum(term.weight * ts_rank('{0.4, 0.5, 0.7, 1}', s.terms, term.query, 1)) from term) as score
    from candidate join memdir_words s on s.memory = candidate.memory
    order by 2 desc, 1 limit most
  $$`;

/** Those that a statement of ours calls by itself, outside a transaction of a tenant. */
export const CALLED = [
  "memdir_enter(text, text, text, timestamptz, text)",
  "memdir_list(text, text, text, text)",
  "memdir_write(jsonb, text, text, text)",
] as const;
