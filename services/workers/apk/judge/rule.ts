import { type ApkReport, type ScoreName } from '../report';
import { type Sight } from './sight';

/** A condition that every app is checked for. */
export interface Rule {
  readonly id: string;
  readonly countsFor: ScoreName;
  /** The share of the remaining trust that it takes away. */
  readonly weight: number;
  /** Findings with the same cause count once. Without a cause, a finding counts by itself. */
  readonly cause?: string;
  readonly title: string;
  readonly allows: string;
  /** The part of the report on which it is based. */
  readonly section: keyof ApkReport;
  readonly seenIn: Sight;
}

/** A rule without the members that its whole list shares. */
export type Row = Omit<Rule, 'countsFor' | 'section'>;

/** Completes the rules of one list, which count for one score and rest on one part of the report. */
export const rowsOf = (countsFor: ScoreName, section: keyof ApkReport, rows: readonly Row[]): Rule[] =>
  rows.map((row) => ({ ...row, countsFor, section }));
