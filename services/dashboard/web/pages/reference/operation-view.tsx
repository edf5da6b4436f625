import { Stack, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ApiOperation } from '../../../contract/api-document';
import { type ListedOperation, type ListedProduct } from './operations';
import { fieldOf, fieldsOf } from '../../../contract/schema-fields';
import { FieldTable } from './field-table';
import { MethodBadge } from './method-badge';
import classes from './reference.module.css';

interface OperationViewProps {
  readonly product: ListedProduct;
  readonly listed: ListedOperation;
}

/** What one operation is for, and what it takes field by field. */
export function OperationView({ product, listed }: OperationViewProps): ReactNode {
  const { method, path, operation } = listed;
  return (
    <section className="panel" aria-label={`${method} ${path}`}>
      <Stack gap="md">
        <div>
          <Text size="sm" c="dimmed" mb={8}>
            {product.title}: {product.description}
          </Text>
          <Title order={2} className={classes['place']}>
            <MethodBadge method={method} />
            <span className="mono breakable">{path}</span>
          </Title>
          <Text size="sm" mt={6}>
            {operation.summary}. {operation.description}
          </Text>
        </div>
        <Input operation={operation} />
      </Stack>
    </section>
  );
}

function Input({ operation }: { readonly operation: ApiOperation }): ReactNode {
  const { parameters = [], requestBody } = operation;
  const content = requestBody?.content ?? {};
  const bodyFields = fieldsOf(content['application/json']?.schema ?? content['multipart/form-data']?.schema ?? {});
  if (parameters.length === 0 && bodyFields.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Takes no input other than the key.
      </Text>
    );
  }
  return (
    <>
      {parameters.length > 0 && (
        <FieldTable title="Parameters" fields={parameters.map(({ name, schema, required = false }) => fieldOf(name, schema, required))} />
      )}
      {bodyFields.length > 0 && (
        <FieldTable title="Body" fields={bodyFields}>
          As{' '}
          {Object.keys(content).map((type, index, all) => (
            <span key={type}>
              {index === 0 ? '' : index === all.length - 1 ? ' or ' : ', '}
              <span className="mono breakable">{type}</span>
            </span>
          ))}
          .
        </FieldTable>
      )}
    </>
  );
}
