import { type ReactNode } from 'react';
import { PageFrame, type PageTools } from './page-frame';

/** At an address of the reference that is no product's. */
export function MissingPage({ tools }: { readonly tools: PageTools }): ReactNode {
  return (
    <PageFrame tools={tools} title="No such product" description="There is no product of this name." path="/reference">
      <h1>No such product</h1>
      <p>
        There is no product of this name, or it cannot be called. <a href="/products">All products</a>
      </p>
    </PageFrame>
  );
}
