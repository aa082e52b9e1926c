/** A question that a person answers with yes or no. */

/** Anything but a clear yes is a no; so is an input that ends. */
export async function askPerson(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((done) => {
    lines.on("close", () => done(false));
    lines.question(`${question} [y/N] `, (answer) => {
      done(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}
