import { createContext, useContext } from 'react';

/** The reader of a page: a customer or an operator. */
export interface Viewer {
  readonly email: string;
  readonly quotaTimeZone: string;
}

const ViewerContext = createContext<Viewer | undefined>(undefined);

/** Set by the frame of the signed-in pages. */
export const ViewerProvider = ViewerContext.Provider;

/** Below a frame of signed-in pages only. */
export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (!viewer) throw new Error('a page is shown outside its frame');
  return viewer;
}
