import { parentPort, workerData } from 'node:worker_threads';
import { describeSold, type DescriptionInput } from './description';

parentPort?.postMessage(describeSold(workerData as DescriptionInput));
