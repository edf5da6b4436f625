const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Bounds of the work for one file. A stranger's APK may lie about every number in it. Each number that makes the analysis allocate, loop or
 * recurse is checked against one of these bounds.
 */
export const LIMITS = {
  /** The largest upload. The service already refuses larger ones with 413. */
  fileBytes: 200 * MIB,
  /** Maximum entries of a ZIP without its 64-bit extension, which Android does not read. */
  zipEntries: 65_535,
  zipDirectoryBytes: 32 * MIB,
  /** Google Play's own bound for an installed APK is far below this. */
  totalUnpackedBytes: 1024 * MIB,
  entryUnpackedBytes: 512 * MIB,
  /** Deflate reaches 1032:1. Real files and apps of this size stay far below 100:1. */
  bombRatio: 100,
  bombRatioFromBytes: 64 * MIB,

  /** Maximum modules or splits of a bundle or a set of APKs that are analysed. Together they must stay within the bounds above. */
  parts: 100,
  /** Disk space for the compressed APKs of a set. APKs hardly compress, so twice the size of the upload is enough. */
  unpackedApksBytes: 400 * MIB,
  /** Maximum size of an XAPK's description. */
  descriptionBytes: MIB,

  /** Unpacked sizes of files that are held in memory, one file at a time. */
  manifestBytes: 16 * MIB,
  resourceTableBytes: 64 * MIB,
  dexBytes: 64 * MIB,
  xmlFileBytes: 4 * MIB,
  signatureFileBytes: 16 * MIB,
  signingBlockBytes: 32 * MIB,
  /** Larger entries are hashed as a stream instead of in one piece. */
  streamFromBytes: 8 * MIB,

  xmlDepth: 100,
  xmlElements: 100_000,
  xmlAttributes: 400_000,
  /** Characters. Longer texts of resources are cut. */
  stringLength: 32_768,
  resourceTypeChunks: 50_000,
  /** Entries of a bundle's resources, in the types to which the manifest refers. A type has at most 65,536. */
  resourceEntries: 300_000,
  localeLength: 40,
  referenceHops: 20,
  /**
   * Configurations examined for all references together, at about two microseconds each. A thousand references to texts in a hundred
   * languages use a tenth of it. A small file can make each of its references examine each of its configurations.
   */
  configurationLookups: 1_000_000,
  signers: 10,
  certificatesOfSigner: 10,
  dexFiles: 200,
  /**
   * Fields and methods of classes that are read in all dex files. If each of them must be examined, that takes half a microsecond each, 1.5
   * s in all; ordinary code takes a tenth of that.
   */
  codeMembers: 3_000_000,
  /** Units of code (16 bits) that are searched for calls, at 7 ns each, 0.7 s in all. A dex file of 11 MB has 1.5 million. */
  codeUnits: 100_000_000,
  /** Units in which values are followed, at 120 ns each in the worst case, 0.6 s in all. A dex file of 5 MB has up to 300,000. */
  followedUnits: 5_000_000,

  /** Unpacked size of one native library, and of all that are examined. Unpacking takes about 10 ms of CPU per MiB. */
  libraryBytes: 64 * MIB,
  librariesBytes: 128 * MIB,

  /**
   * Bytes of text files that are searched for addresses and secrets, in all parts together; a single file may be as large. Searching takes
   * about 9 ms of CPU per MiB, so 256 MiB take a quarter of `APK_WORKER_CPU_MS`.
   */
  scannedTotalBytes: 256 * MIB,
  /**
   * Places tried for one literal in the whole app. The most expensive (the start of a JSON web token that never ends) takes 10 µs, so one
   * second in all. 32 MiB of JavaScript have 7,000 places for all literals together.
   */
  scannedPlaces: 100_000,
  scannedTableCharacters: 32 * MIB,

  /** Maximum length of lists in the report. A warning names each list that was cut. */
  listed: 5_000,
  urls: 500,
  secrets: 200,
  warnings: 100,
  /** The report must fit into one message to the service. */
  reportCharacters: 4 * MIB,
} as const;
