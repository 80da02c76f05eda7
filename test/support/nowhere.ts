/** What the labels of customers and orgs have in the columns of an org and a parent, until no server looks for it. */
export const nowhere = "00000000-0000-0000-0000-000000000000";
