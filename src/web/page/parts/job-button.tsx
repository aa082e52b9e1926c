/** A button that starts long work; while it runs, the tray at the edge shows it and stops it. */
import type { VNode } from "preact";
import type { JobKind } from "../../api.ts";
import { jobs, startJob } from "../live.ts";
import { useStore } from "../store.ts";
import { Button } from "./button.tsx";
import { tellFailure } from "./notice.tsx";
import { useStart } from "./start.ts";

/** Nothing where nothing may be changed. */
export function JobButton({ kind, title, busy }: { kind: JobKind; title: string; busy: string }): VNode | null {
  const { readOnly } = useStart();
  const isRunning = useStore(jobs).some((job) => job.kind === kind && job.state === "running");
  const begin = async () => {
    const failure = await startJob(kind);
    if (failure !== null) tellFailure(failure);
  };
  if (readOnly) return null;
  return (
    <Button isSmall isDisabled={isRunning} onClick={begin}>
      {isRunning ? busy : title}
    </Button>
  );
}
