import { Badge, TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { tagsQuery } from '../../parts/api/queries';
import classes from './key-filters.module.css';

/** The customer's tags of a key. */
export function KeyTags({ tags }: { readonly tags: readonly string[] }): ReactNode {
  if (tags.length === 0) return null;
  return (
    <span className={classes['tags']}>
      {tags.map((tag) => (
        <Badge key={tag} color="gray" fw={400}>
          <bdi>{tag}</bdi>
        </Badge>
      ))}
    </span>
  );
}

/** The server's maximum. The server checks their characters. */
const MAX_TAGS = 10;

const normalise = (tags: readonly string[]): string[] => [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].sort();

interface TagsFieldProps {
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
  readonly error?: ReactNode;
}

/** The tags of one key. It offers tags of other keys. */
export function TagsField({ value, onChange, error }: TagsFieldProps): ReactNode {
  const { data } = useQuery(tagsQuery);
  return (
    <TagsInput
      label="Tags"
      description="Optional words to find keys by; Enter or a comma ends one"
      data={data?.tags ?? []}
      value={value}
      onChange={(tags) => onChange(normalise(tags))}
      error={error}
      maxTags={MAX_TAGS}
      acceptValueOnBlur
    />
  );
}
