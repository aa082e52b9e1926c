/** Settings: how memdir learns, what it may spend, which agents use it, and where the memories are. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentRow, SettingsView as Settings, TeamAnswer } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, Field, List, Soft, Tag } from "../parts/basics.tsx";
import { useBusy } from "../parts/hooks.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Page, Section, Table } from "../parts/layout.tsx";
import { tell, told } from "../parts/notice.tsx";
import { send } from "../remote.ts";
import { amend } from "../router.ts";
import { askVerb } from "../verb-dialog.tsx";

const MODES: [string, string][] = [
  ["auto", "Save what was learnt"],
  ["inbox", "Propose it: I decide in Review"],
  ["read-only", "Only recall, save nothing"],
  ["off", "Neither learn nor extract"],
];

export function SettingsView({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<Settings>("/api/settings");
  const wantsImport = params.get("tab") === "import";
  useEffect(() => {
    if (!wantsImport) return;
    amend({ tab: null });
    askVerb("import");
  }, [wantsImport]);
  return (
    <Page title="Settings" lead="They count for all of your projects." live={live}>
      {(settings) => (
        <>
          <Learning settings={settings} onDone={live.reload} />
          <Agents agents={settings.agents} onDone={live.reload} />
          <Section title="Stores">
            <Table
              caption="Where memories are"
              columns={[
                { title: "Scope", cell: ({ scope }) => scope },
                { title: "Folder", cell: ({ path }) => <code>{path}</code> },
                { title: "Access", cell: ({ readOnly }) => (readOnly ? "read-only" : "") },
              ]}
              rows={settings.stores}
              keyOf={({ path }) => path}
            />
          </Section>
          <Team />
        </>
      )}
    </Page>
  );
}

function Learning({ settings: { learn, userFile }, onDone }: { settings: Settings; onDone: () => void }): VNode {
  const { readOnly } = useStart();
  const put = async (name: string, value: string) => {
    if ((await told(send("POST", "/api/settings", { name, value }))) !== null) tell("Saved.", "good");
    else setTyped(({ [name]: _, ...others }) => others);
    onDone();
  };
  const [typed, setTyped] = useState<{ [name: string]: string }>({});
  // Saved when it is chosen, left or confirmed, not with every key.
  const field = (name: keyof typeof learn) => ({
    disabled: readOnly,
    value: typed[name] ?? String(learn[name] ?? ""),
    onInput: (value: string) => setTyped((now) => ({ ...now, [name]: value })),
    onChange: (event: Event) => put(name, (event.currentTarget as HTMLInputElement).value.trim()),
  });
  return (
    <Section title="Learning">
      <div class="even settings" style={{ "--least": "16rem", alignItems: "start" }}>
        <Field label="From your own sessions" options={MODES} {...field("mode")} />
        <Field label="For the team’s memories" options={MODES.slice(1)} {...field("teamMode")} />
        <Field
          label="Model for background learning"
          says="claude-code, codex, gemini-cli, a provider’s model, or off. Empty: it learns offline."
          {...field("model")}
        />
        <Field label="Tokens a day" says="For background work only." inputMode="numeric" {...field("tokensPerDay")} />
        <Field label="Tokens a session" inputMode="numeric" {...field("tokensPerSession")} />
        <Field label="Cost a day" says="By your price list. Empty: no limit." {...field("costPerDay")} />
      </div>
      <p class="row">
        <JobButton kind="learn" title="Learn from past sessions" />
        <JobButton kind="warm" title="Prepare recall by meaning" />
        <Button isSmall text="Import memories" onClick={() => askVerb("import")} />
      </p>
      <p class="soft small">
        Kept in <code>{userFile}</code>; the environment comes first.
      </p>
    </Section>
  );
}

function Agents({ agents, onDone }: { agents: AgentRow[]; onDone: () => void }): VNode {
  const [isBusy, run] = useBusy();
  const { readOnly } = useStart();
  const wire = async ({ name, title }: AgentRow) => {
    const done = await run(told(send<{ notes: string[] }>("POST", "/api/agents", { name })));
    if (done === null) return;
    tell([`${title} is connected`, ...done.notes].join(". "), "good");
    onDone();
  };
  return (
    <Section title="Agents">
      <Table
        caption="Agents that can use memdir"
        columns={[
          { title: "Agent", cell: ({ title }) => <strong>{title}</strong> },
          {
            title: "State",
            cell: ({ isFound, isWired }) => (
              <Tag tone={isWired ? "good" : "plain"} text={isWired ? "connected" : isFound ? "found" : "not found"} />
            ),
          },
          {
            title: "What connecting changes",
            cell: ({ changes }) => (
              <List class="list small" rows={changes}>
                {({ file, why }) => (
                  <>
                    <code>{file}</code> <span class="soft">{why}</span>
                  </>
                )}
              </List>
            ),
          },
          {
            title: "Action",
            cell: (agent) =>
              agent.isFound && !agent.isWired && !readOnly ? (
                <Button isSmall text="Connect" isBusy={isBusy} onClick={() => wire(agent)} />
              ) : null,
          },
        ]}
        rows={agents}
        keyOf={({ name }) => name}
      />
    </Section>
  );
}

function Team(): VNode | null {
  const team = useLive<TeamAnswer>("/api/team").value;
  if (team === null) return null;
  const { place, lastSync, people } = team;
  return (
    <Section title="Team">
      {place === null || place.kind === "none" ? (
        <Soft text="This project’s memories are not shared." />
      ) : (
        <p>
          Shared through a {place.kind}: <code>{place.where}</code>
          {lastSync === null ? null : (
            <span class="soft">
              {" "}
              · last sync <Age at={lastSync} />
            </span>
          )}
        </p>
      )}
      <Table
        caption="People"
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Memories", isNumber: true, cell: ({ memories }) => memories.toLocaleString() },
          { title: "Last", cell: ({ last }) => (last === null ? "" : <Age at={last} />) },
        ]}
        rows={people}
        keyOf={({ name }) => name}
      />
    </Section>
  );
}
