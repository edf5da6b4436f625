import './app/styles.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isConnectionFailing, subscribeToConnection } from './parts/api/connection';
import { createQueryClient, forgetPerson } from './parts/api/query-client';
import { createAppRouter } from './app/router';
import { safeReturn } from './parts/browser/safe-return';
import { isLeavingPostponed } from './parts/hooks/use-shown-secret';
import { takeViewedCustomer } from './parts/browser/viewed-customer';
import { resolveVariables, theme } from './app/theme';
import { ConnectionBanner } from './parts/components/connection-banner';

/** The nonce that this page's policy requires of styles made at run time; undefined when it requires none. */
const styleNonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content;

// The name under which the part of Mantine's dialogs that stops the page from scrolling looks for the nonce.
Object.assign(window, { __webpack_nonce__: styleNonce });

takeViewedCustomer();
const queryClient = createQueryClient(leadToSignIn);
const router = createAppRouter(queryClient);

// Whichever request noticed it, everything that failed meanwhile is read again, including the page that could not be opened.
subscribeToConnection(() => {
  if (isConnectionFailing()) return;
  void queryClient.invalidateQueries();
  void router.invalidate();
});

let isLeaving = false;

/** The session ended under an open page: leads to sign-in, and back to the page afterwards. */
function leadToSignIn(): void {
  const { matches, location } = router.state;
  if (isLeaving || !matches.some(({ routeId }) => routeId === '/shell' || routeId === '/console') || isLeavingPostponed()) return;
  isLeaving = true;
  const search = { then: safeReturn(location.href), reason: 'ended' };
  void router.navigate({ to: '/sign-in', search }).finally(() => {
    forgetPerson(queryClient);
    isLeaving = false;
  });
}

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider getStyleNonce={() => styleNonce ?? ''} theme={theme} cssVariablesResolver={resolveVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ConnectionBanner />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
