import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Usage } from '../../../contract/usage';
import { usageQuery } from '../../api/queries';
import { addDays, dayOf } from '../../format/time';
import { useSession } from '../../hooks/use-session';

/** Usage of the last 7 days, today included; the line and the refusals beside it need no more than a look a minute. */
export function useWeek(): UseQueryResult<Usage> {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  return useQuery({ ...usageQuery({ from: addDays(today, -6), to: today }), refetchInterval: 10_000 });
}
