import { parentPort, workerData } from 'node:worker_threads';
import { describeSold, type DescriptionInput } from './description';

const description = describeSold(workerData as DescriptionInput);
const { text, shown } = description;
// Handed over, not copied: whoever waits for it would stand still for as long as a copy takes.
parentPort?.postMessage(description, [text.buffer, shown.overview.buffer, shown.operations.buffer]);
