import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';

/** Shows in the Temporal UI how it is, and by what it is found. What is found by is written only when it has changed. */
export function createPublishing(): (text: string, attributes: SearchAttributePair[]) => void {
  let published = '';
  return (text, attributes) => {
    setCurrentDetails(text);
    const key = JSON.stringify(attributes.map(({ value }) => value));
    if (key !== published) upsertSearchAttributes(attributes);
    published = key;
  };
}
