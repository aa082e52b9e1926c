/** What can be done with a memory: edit, rename, forget; each can be taken back. */
import type { VNode } from "preact";
import type { ChangedAnswer, MemoryView } from "../../api.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { formatCount } from "../parts/format.ts";
import { tellFailure } from "../parts/notice.tsx";
import { tellChanged } from "../parts/undo.ts";
import { send } from "../remote.ts";
import { formatRoute, replace } from "../router.ts";

export function Actions({ memory }: { memory: MemoryView }): VNode {
  const { directory, file, name } = memory.row;
  const forget = async () => {
    const reason = await ask({
      title: `Forget “${name}”?`,
      text: "The file goes; the journal keeps it, and you can undo.",
      yes: "Forget",
      isDanger: true,
      field: { label: "Why (kept in the journal)" },
    });
    if (reason === null) return;
    const body = reason === "" ? { directory, file } : { directory, file, reason };
    const { value, failure } = await send<ChangedAnswer>("POST", "/api/forget", body);
    if (failure !== null) return tellFailure(failure);
    replace("memories");
    tellChanged(value.message, value.entry);
  };
  const rename = async () => {
    const wanted = await ask({
      title: "Rename",
      text: saysLinks(memory.links.from.length),
      yes: "Rename",
      field: { label: "New name", value: name, isRequired: true },
    });
    if (wanted === null || wanted === name) return;
    const { value, failure } = await send<ChangedAnswer>("POST", "/api/rename", { directory, file, name: wanted });
    if (failure !== null) return tellFailure(failure);
    if (value.ref !== null) replace("memory", { ...value.ref });
    tellChanged(value.message, value.entry);
  };
  return (
    <>
      <LinkButton kind="primary" href={formatRoute("edit", { directory, file })}>
        Edit
      </LinkButton>
      <Button onClick={() => void rename()}>Rename</Button>
      <Button kind="danger" onClick={() => void forget()}>
        Forget
      </Button>
    </>
  );
}

/** Links are by name, and those of other memories are theirs. */
function saysLinks(count: number): string {
  if (count === 0) return "Its file gets the new name too.";
  return `Its file gets the new name too. ${formatCount(count, "memory links", "memories link")} to the old name and will have to be changed.`;
}
