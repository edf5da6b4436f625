const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What the analysis is willing to spend on one file. An APK from a stranger may lie about every number in it, so each number that makes
 * the analysis allocate, loop or recurse is held against one of these.
 */
export const LIMITS = {
  /** The largest upload; the service refuses earlier with 413. */
  fileBytes: 200 * MIB,
  /** A ZIP without its 64-bit extension, which Android does not read, holds no more. */
  zipEntries: 65_535,
  zipDirectoryBytes: 32 * MIB,
  /** Google Play's own bound for an installed APK is far below this. */
  totalUnpackedBytes: 1024 * MIB,
  entryUnpackedBytes: 512 * MIB,
  /** Deflate reaches 1032:1; real files and apps beyond this size do not come near 100:1. */
  bombRatio: 100,
  bombRatioFromBytes: 64 * MIB,

  /** Of a bundle or a set of APKs: modules and splits looked at, all within the bounds above together. */
  parts: 100,
  /** What compressed APKs in a set may take on disk while they are looked at; APKs hardly become smaller, so it is twice the upload. */
  unpackedApksBytes: 400 * MIB,
  /** The description of an XAPK. */
  descriptionBytes: MIB,

  /** Unpacked sizes of what is held in memory, one at a time. */
  manifestBytes: 16 * MIB,
  resourceTableBytes: 64 * MIB,
  dexBytes: 64 * MIB,
  xmlFileBytes: 4 * MIB,
  signatureFileBytes: 16 * MIB,
  signingBlockBytes: 32 * MIB,
  /** Above this an entry is hashed as a stream instead of in one piece. */
  streamFromBytes: 8 * MIB,

  xmlDepth: 100,
  xmlElements: 100_000,
  xmlAttributes: 400_000,
  /** Characters; longer texts of resources are cut. */
  stringLength: 32_768,
  resourceTypeChunks: 50_000,
  /** Of a bundle's resources, of the types that the manifest refers to; a type has at most 65,536. */
  resourceEntries: 300_000,
  localeLength: 40,
  referenceHops: 20,
  /**
   * Configurations looked at for all references together, about two microseconds each; a thousand references to texts in a hundred languages
   * take a tenth of it. A small file can make every one of its references look at every one of its configurations.
   */
  configurationLookups: 1_000_000,
  signers: 10,
  certificatesOfSigner: 10,
  dexFiles: 200,

  /**
   * Bytes of text files looked through for addresses and secrets, of all parts together; a file may be as large. Searching them takes
   * about 9 ms of CPU a MiB, so that 256 MiB take a quarter of `APK_WORKER_CPU_MS`.
   */
  scannedTotalBytes: 256 * MIB,
  /**
   * Places tried for one literal in the whole app. The dearest (the start of a JSON web token that goes on for ever) takes 10 µs, a second in
   * all. 32 MiB of JavaScript have 7,000 places of all literals together.
   */
  scannedPlaces: 100_000,
  scannedTableCharacters: 32 * MIB,

  /** Lengths of lists in the report; a warning says when one was cut. */
  listed: 5_000,
  urls: 500,
  secrets: 200,
  warnings: 100,
  /** The answer has to fit in one message to the service. */
  reportCharacters: 4 * MIB,
} as const;
