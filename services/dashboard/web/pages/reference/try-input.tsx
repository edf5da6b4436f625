import { FileInput, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ApiOperation } from '../../../contract/api-document';
import { fieldOf } from '../../../contract/schema-fields';
import { type TryValues } from './try-call';

interface TryInputProps {
  readonly operation: ApiOperation;
  readonly values: TryValues;
  readonly onChange: (values: TryValues) => void;
  readonly errors: { readonly body: string | undefined; readonly file: string | undefined };
}

/** Fields for what an operation takes. Those that stay empty are not sent. */
export function TryInput({ operation, values, onChange, errors }: TryInputProps): ReactNode {
  const { parameters = [] } = operation;
  return (
    <>
      {parameters.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {parameters.map(({ name, schema, required = false }) => (
            <TextInput
              key={name}
              label={name}
              description={fieldOf(name, schema, required).type}
              required={required}
              value={values.query[name] ?? ''}
              onChange={(event) => onChange({ ...values, query: { ...values.query, [name]: event.currentTarget.value } })}
              spellCheck={false}
            />
          ))}
        </SimpleGrid>
      )}
      {values.body !== undefined && (
        <Textarea
          label="Body"
          description="JSON"
          value={values.body}
          onChange={(event) => onChange({ ...values, body: event.currentTarget.value })}
          error={errors.body}
          autosize
          minRows={3}
          maxRows={18}
          spellCheck={false}
          classNames={{ input: 'mono' }}
        />
      )}
      {values.file !== undefined && (
        <FileInput
          label="File"
          description="A sample file unless you choose another; at most 2.5 MB"
          value={values.file}
          onChange={(file) => onChange({ ...values, file })}
          error={errors.file}
        />
      )}
    </>
  );
}
