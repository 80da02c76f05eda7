import { useState } from "react";
import {
  type IdentityProvider,
  IdentityProvider_OnFirstSignIn as OnFirstSignIn,
  IdentityProvider_OnFirstSignInSchema as OnFirstSignInSchema,
} from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { listIn, SelectField, TextAreaField, valueOf } from "../../ui/text-field.tsx";
import { GroupsField } from "../groups/groups-field.tsx";

/** The names of the fields that `FirstSignInFields` shows, as in the API. */
export const firstSignInFields = ["on_first_sign_in", "first_sign_in_condition", "first_sign_in_group_paths"] as const;

/** Returns what somebody has typed and chosen in `FirstSignInFields`. */
export const readFirstSignIn = (form: FormData) => ({
  onFirstSignIn: chosenIn(form, "on_first_sign_in", OnFirstSignIn),
  firstSignInCondition: valueOf(form, "first_sign_in_condition"),
  firstSignInGroupPaths: listIn(form, "first_sign_in_group_paths"),
});

interface FirstSignInFieldsProps {
  readonly org: string;
  readonly provider: IdentityProvider | undefined;
}

/** What becomes of people who have an account at an identity provider and are no members. */
export function FirstSignInFields({ org, provider }: FirstSignInFieldsProps) {
  const [chosen, setChosen] = useState(nameIn(OnFirstSignInSchema, provider?.onFirstSignIn ?? OnFirstSignIn.REFUSE));
  const { firstSignInCondition: condition = "", firstSignInGroupPaths: groups = [] } = provider ?? {};
  return (
    <>
      <SelectField
        name="on_first_sign_in"
        label={providerTexts.onFirstSignIn}
        hint={providerTexts.onFirstSignInHint}
        choices={choicesOf(providerTexts.onFirstSignInChoices)}
        value={chosen}
        onValueChange={setChosen}
      />
      {chosen === "CREATE" ? (
        <>
          <TextAreaField
            name="first_sign_in_condition"
            label={providerTexts.condition}
            hint={providerTexts.conditionHint}
            defaultValue={condition}
            rows={2}
            code
          />
          <GroupsField
            org={org}
            name="first_sign_in_group_paths"
            label={providerTexts.newcomerGroups}
            hint={providerTexts.newcomerGroupsHint}
            groups={groups}
          />
        </>
      ) : (
        // As they were, for when it is chosen again.
        <>
          <input type="hidden" name="first_sign_in_condition" value={condition} />
          <input type="hidden" name="first_sign_in_group_paths" value={groups.join(" ")} />
        </>
      )}
    </>
  );
}
