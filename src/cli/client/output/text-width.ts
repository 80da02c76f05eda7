// How much room text takes in a terminal.

const segmenter = new Intl.Segmenter();
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Returns how many columns text takes. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return [...segmenter.segment(text)].reduce((width, { segment }) => width + segmentWidth(segment), 0);
}

function segmentWidth(segment: string): number {
  if (zero.test(segment)) return 0;
  return wide.test(segment) ? 2 : 1;
}

/** Shortens text to a number of columns, with `…` at its end. */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += segmentWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Fills text with spaces. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}
