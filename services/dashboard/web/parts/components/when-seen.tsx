import { Skeleton } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, useState, type ReactNode } from 'react';

interface WhenSeenProps {
  /** Height in px of what is to come. */
  readonly height: number;
  readonly children: ReactNode;
}

/** Delays content further down, with its requests, until it is visible. Then it stays. */
export function WhenSeen({ height, children }: WhenSeenProps): ReactNode {
  const { ref, entry } = useIntersection();
  const [isSeen, setSeen] = useState(false);
  const isVisible = entry?.isIntersecting ?? false;
  useEffect(() => {
    if (isVisible) setSeen(true);
  }, [isVisible]);
  return <div ref={ref}>{isSeen ? children : <Skeleton height={height} animate={false} />}</div>;
}
