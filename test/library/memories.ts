/** What the tests of the library save. */

export const PNPM = {
  type: "feedback",
  name: "use pnpm",
  description: "Package manager of this project",
  body: "Use pnpm, never npm: the lockfile is pnpm's.",
  when: ["installing a package"],
} as const;

/** Made here, so that no scanner of the repository takes it for a real one. */
export const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
