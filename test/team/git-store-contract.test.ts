import { makeGitPlace } from "./git-place.ts";
import { describeStore } from "./store-contract.ts";

describeStore(
  "git branch",
  async () => {
    const place = makeGitPlace();
    return { open: (who) => place.open(who), cleanup: () => {} };
  },
  { many: 120 },
);
