/** Foreign text made harmless for a terminal, for the console. */

export { sanitise, sanitiseLine } from "../../text/sanitise.ts";
