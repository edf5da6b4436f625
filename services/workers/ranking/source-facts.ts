import { type KeyMode } from '../../../plugins/core/ports';
import { sourceName } from '../../kit/upstream/source-name';
import { type RankingSource } from './ranking-upstream';

/** Members of every body that name the source of its order. */
export type SourceFacts = {
  readonly source: string;
  /** What the source's order does not represent; null if nothing is known about it. */
  readonly source_note: string | null;
};

const NOTES: Readonly<Record<RankingSource, string | null>> = {
  google_places: "The order is that of a Google Places search. The local pack on Google's results page is ordered differently.",
  ranking_websocket: null,
};

export function sourceFacts(source: RankingSource, mode: KeyMode): SourceFacts {
  return { source: sourceName(source, mode), source_note: NOTES[source] };
}
