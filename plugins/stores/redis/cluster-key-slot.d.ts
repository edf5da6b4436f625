declare module 'cluster-key-slot' {
  /** The slot of a key in a Redis Cluster, by its hash tag when it has one. */
  function calculateSlot(key: string): number;
  export = calculateSlot;
}
