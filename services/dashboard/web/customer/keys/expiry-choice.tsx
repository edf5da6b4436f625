import { Group, NativeSelect, TextInput } from '@mantine/core';
import { type ReactNode } from 'react';
import { addDays, dayOf, endOfDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';

/** The form's choice of expiry: `''` never, `'30'` days from now, `'date'` at the end of `day`, `'keep'` unchanged. */
export interface ExpiryValue {
  readonly choice: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
}

interface ExpiryChoiceProps {
  readonly value: ExpiryValue;
  readonly onChange: (value: ExpiryValue) => void;
  /** Text of the choice that leaves the expiry unchanged. */
  readonly keep?: string;
  readonly error?: ReactNode;
}

const CHOICES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'date', label: 'On a date…' },
];

/** Chooses an expiry. */
export function ExpiryChoice({ value, onChange, keep, error }: ExpiryChoiceProps): ReactNode {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const choices = keep === undefined ? CHOICES : [{ value: 'keep', label: keep }, ...CHOICES];
  return (
    <Group gap="xs" align="flex-start" grow>
      <NativeSelect
        label="Expires"
        data={choices}
        value={value.choice}
        onChange={(event) => onChange({ choice: event.currentTarget.value, day: value.day || addDays(today, 30) })}
        error={value.choice === 'date' ? undefined : error}
      />
      {value.choice === 'date' && (
        <TextInput
          label={`Date (${quotaTimeZone})`}
          type="date"
          min={today}
          value={value.day}
          onChange={(event) => onChange({ choice: 'date', day: event.currentTarget.value })}
          error={error}
        />
      )}
    </Group>
  );
}

/** ISO time of the expiry; null for never, undefined for unchanged. Only for a value that {@link checkExpiry} accepts. */
export function expiryMoment({ choice, day }: ExpiryValue, timeZone: string, now: Date): string | null | undefined {
  if (choice === 'keep') return undefined;
  if (choice === '') return null;
  return endOfDay(choice === 'date' ? day : addDays(dayOf(now, timeZone), Number(choice)), timeZone);
}

/** The mistake in the value, or undefined. */
export function checkExpiry({ choice, day }: ExpiryValue, timeZone: string, now: Date): string | undefined {
  if (choice !== 'date') return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return 'Choose a date.';
  return day < dayOf(now, timeZone) ? 'This date is in the past.' : undefined;
}
