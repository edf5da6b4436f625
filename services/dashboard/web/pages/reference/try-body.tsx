import { Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type TryAnswer } from '../../../contract/try';
import { isJson } from './try-call';
import { CopyButton } from '../../components/copy-button';
import classes from './reference.module.css';

type Answered = Extract<TryAnswer, { outcome: 'answered' }>;

/** A page with more text than this is slow to scroll. */
const MOST_SHOWN = 200_000;
/** How a PNG, a JPEG and a GIF begin in base64. */
const PICTURES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
] as const;

/** A picture among the members of an answer, for example a captcha to be read; as a data URI. */
function pictureIn(text: string): string | undefined {
  const answer: unknown = isJson(text) ? JSON.parse(text) : undefined;
  const members: unknown[] = typeof answer === 'object' && answer !== null ? Object.values(answer) : [];
  for (const member of members) {
    if (typeof member !== 'string') continue;
    if (member.startsWith('data:image/')) return member;
    const type = PICTURES.find(([start]) => member.startsWith(start))?.[1];
    if (type !== undefined) return `data:${type};base64,${member}`;
  }
  return undefined;
}

/** The body of an answer: JSON in lines, a picture as one, other bytes as a file. */
export function TryBody({ answer }: { readonly answer: Answered }): ReactNode {
  const { body, encoding, isCut } = answer;
  return (
    <Stack gap="xs">
      {isCut && <Text size="sm">The response is longer than 2 MiB; this is the beginning.</Text>}
      {body === '' ? (
        <Text size="sm">The response has no body.</Text>
      ) : encoding === 'text' ? (
        <TextBody text={body} />
      ) : (
        <Bytes answer={answer} />
      )}
    </Stack>
  );
}

function TextBody({ text }: { readonly text: string }): ReactNode {
  const whole = isJson(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  const picture = pictureIn(text);
  return (
    <>
      {picture !== undefined && <Picture source={picture} alt="Image in the response" />}
      <pre className={`code-line ${classes['answer']}`} tabIndex={0} aria-label="Response body">
        <code>{whole.slice(0, MOST_SHOWN)}</code>
      </pre>
      <div>
        <CopyButton text={whole} what="response" />
      </div>
    </>
  );
}

function Bytes({ answer: { body, headers, isCut } }: { readonly answer: Answered }): ReactNode {
  const type = headers['content-type'] ?? 'application/octet-stream';
  const source = `data:${type};base64,${body}`;
  if (type.startsWith('image/') && !isCut) return <Picture source={source} alt="Response" />;
  return (
    <Text size="sm">
      The response is binary data of type <span className="mono">{type}</span>.{' '}
      <a href={source} download="answer" className="text-link in-text">
        Download it
      </a>
    </Text>
  );
}

function Picture({ source, alt }: { readonly source: string; readonly alt: string }): ReactNode {
  return <img src={source} alt={alt} className={classes['picture']} />;
}
