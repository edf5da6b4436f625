import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Usage } from '../../../contract/usage';
import { usageQuery } from '../../parts/api/queries';
import { addDays, dayOf } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';

/** Days on the overview, today included. */
export const MONTH_DAYS = 30;

/** Usage of the last 30 days, reloaded every ten seconds. */
export function useMonth(): UseQueryResult<Usage> {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  return useQuery({ ...usageQuery({ from: addDays(today, 1 - MONTH_DAYS), to: today }), refetchInterval: 10_000 });
}
