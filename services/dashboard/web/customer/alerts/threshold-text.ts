const MAX_PERCENTS = 5;
/** PostgreSQL's integer. */
const HIGHEST_CAP = 2_147_483_647;

/** Parses `75, 90 %` into rising numbers; null for an empty text; undefined for anything but a list of percents. */
export function parsePercents(text: string): number[] | null | undefined {
  const words = text.split(/[\s,;%]+/).filter((word) => word !== '');
  if (words.length === 0) return text.trim() === '' ? null : undefined;
  if (!words.every((word) => /^\d{1,3}$/.test(word))) return undefined;
  const percents = [...new Set(words.map(Number))].sort((a, b) => a - b);
  return percents.length <= MAX_PERCENTS && percents.every((each) => each >= 1 && each <= 100) ? percents : undefined;
}

/** A whole number, with or without commas or spaces between thousands; null for an empty text; undefined for anything else. */
export function parseCap(text: string): number | null | undefined {
  const digits = text.replace(/[\s,_]/g, '');
  if (digits === '') return null;
  return /^\d{1,10}$/.test(digits) && Number(digits) <= HIGHEST_CAP ? Number(digits) : undefined;
}
