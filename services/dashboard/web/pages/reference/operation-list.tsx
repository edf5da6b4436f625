import { NativeSelect } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ListedOperation, type ListedProduct } from './operations';
import { MethodBadge } from './method-badge';
import classes from './reference.module.css';

interface OperationListProps {
  readonly products: readonly ListedProduct[];
  readonly product: ListedProduct;
  readonly chosen: ListedOperation;
}

/** Leads to an operation: by links beside it, on a narrow screen by a list to choose from. */
export function OperationList({ products, product, chosen }: OperationListProps): ReactNode {
  const navigate = useNavigate({ from: '/reference' });
  const groups = products.map(({ title, operations }) => ({
    group: title,
    items: operations.map(({ id, method, path }) => ({ value: id, label: `${method} ${path}` })),
  }));
  return (
    <>
      <NativeSelect
        hiddenFrom="md"
        label="Route"
        data={groups}
        value={chosen.id}
        onChange={(event) => void navigate({ search: { operation: event.currentTarget.value }, replace: true })}
      />
      <nav aria-label="Routes" className={`${classes['routes']} mantine-visible-from-md`}>
        <ul>
          {products.map((each) => (
            <li key={each.id}>
              <Link
                to="/reference"
                search={{ operation: each.operations[0].id }}
                className={classes['product']}
                data-open={each.id === product.id}
              >
                {each.title}
              </Link>
              {each.id === product.id && <Operations operations={each.operations} chosen={chosen} />}
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}

function Operations({
  operations,
  chosen,
}: {
  readonly operations: readonly ListedOperation[];
  readonly chosen: ListedOperation;
}): ReactNode {
  return (
    <ul>
      {operations.map(({ id, method, path }) => (
        <li key={id}>
          <Link
            to="/reference"
            search={{ operation: id }}
            className={classes['route']}
            aria-current={id === chosen.id ? 'true' : undefined}
          >
            <MethodBadge method={method} />
            <span className="mono breakable">{path}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
