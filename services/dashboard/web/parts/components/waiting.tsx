import { Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';

/** Shows for how many seconds a response has taken, once that is long. */
export function Waiting(): ReactNode {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (seconds < NOTEWORTHY_SECONDS) return null;
  return (
    <Text size="sm" c="dimmed" className="numbers">
      No answer for {seconds} s. The call ends after 60 s.
    </Text>
  );
}

/** Most calls have a response by then. */
const NOTEWORTHY_SECONDS = 3;
