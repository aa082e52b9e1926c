/** What a rule of lint has to say about one memory. */

export interface Remark {
  rule: string;
  message: string;
  /** Of the body, from 1; null when it is about the whole. */
  line: number | null;
}
