import { makeGitPlace } from "./git-place.ts";
import { describeRemote } from "./remote-contract.ts";

describeRemote(
  "git branch",
  async () => {
    const place = makeGitPlace();
    return { open: (who) => place.open(who), cleanup: () => {} };
  },
  { many: 120 },
);
