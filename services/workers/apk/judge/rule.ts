import { type ApkReport, type ScoreName } from '../report';
import { type Sight } from './sight';

/** One thing that is looked for in every app. */
export interface Rule {
  readonly id: string;
  readonly countsFor: ScoreName;
  /** The share of the remaining trust that it takes away. */
  readonly weight: number;
  /** Findings of one cause count once. Without it, a finding is its own cause. */
  readonly cause?: string;
  readonly title: string;
  readonly allows: string;
  /** The part of the report on which it is based. */
  readonly section: keyof ApkReport;
  readonly seenIn: Sight;
}

/** A rule without what it shares with others of its list. */
export type Row = Omit<Rule, 'countsFor' | 'section'>;

/** The rules of one list: they count for one score, and rest on one part of the report. */
export const rowsOf = (countsFor: ScoreName, section: keyof ApkReport, rows: readonly Row[]): Rule[] =>
  rows.map((row) => ({ ...row, countsFor, section }));
