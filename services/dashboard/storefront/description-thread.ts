import { parentPort, workerData } from 'node:worker_threads';
import { describeSold, type DescriptionInput } from './description';

const description = describeSold(workerData as DescriptionInput);
const { text, shown } = description;
// Transferred, not copied: a copy would block the thread that waits for it.
parentPort?.postMessage(description, [text.buffer, shown.overview.buffer, shown.operations.buffer]);
