import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ApiDocument } from '../../../contract/api-document';
import { type Product } from '../../../contract/plans';
import { documentQuery, productsQuery } from '../../api/queries';
import { chooseOperation, listProducts } from './operations';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { AnswerPanel } from './answer-panel';
import { CodeSamples, SampleAnswer } from './code-samples';
import { OperationList } from './operation-list';
import { OperationView } from './operation-view';
import classes from './reference.module.css';
import { TryPanel } from './try-panel';
import { useTryMemory } from './use-try-memory';

/** Every route of every product: what it takes and answers, with a form to try it. */
export function ReferencePage(): ReactNode {
  const description = useQuery(documentQuery);
  const products = useQuery(productsQuery);
  const download = (
    <Button component="a" href="/openapi.json" variant="default">
      OpenAPI document
    </Button>
  );
  return (
    <>
      <PageTitle title="API reference" actions={download}>
        Input and responses of every route, with code to copy and a form to try it.
      </PageTitle>
      <Loaded query={description} height={1_200}>
        {(document) => (
          <Loaded query={products} height={1_200}>
            {(data) => <Reference document={document} products={data.products} />}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function Reference({ document, products }: { readonly document: ApiDocument; readonly products: readonly Product[] }): ReactNode {
  const { operation: wanted } = useSearch({ from: '/shell/reference' });
  const memory = useTryMemory();
  const listed = listProducts(document, products);
  const found = chooseOperation(listed, wanted);
  if (!found) return <EmptyState title="No routes yet">They appear here once they are published.</EmptyState>;
  const { product, chosen } = found;
  return (
    <div className={classes['layout']}>
      <OperationList products={listed} product={product} chosen={chosen} />
      <div className={classes['operation']}>
        <OperationView product={product} listed={chosen} />
        <div className={classes['code']}>
          <CodeSamples key={chosen.id} operation={chosen.operation} />
          <SampleAnswer operation={chosen.operation} />
        </div>
        <div className={classes['words']}>
          {/* A form of its own for each: what was typed for one route fits no other. */}
          <TryPanel key={chosen.id} product={product} listed={chosen} memory={memory} />
          <AnswerPanel operation={chosen.operation} />
        </div>
      </div>
    </div>
  );
}
